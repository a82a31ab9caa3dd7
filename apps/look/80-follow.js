
// A scan that is still written: the slice is that of the views of the last half turn, and follows them.

const lookEvery = 150;  // ms, for new views

function follow() {
  const line = made("p", "", "soft note");
  line.id = "followed", line.setAttribute("role", "status");
  at("caption-a").after(line);
  let views = 0, noticed = 0, shown = "";
  const tell = () => { line.textContent = views + " of " + S.planned + " views; the slice is of views " + S.ring[0] + " to " + (S.ring[1] - 1) + shown; };
  askA.shown = found => {
    took(found);
    if (found.rough || noticed === 0) return;
    shown = "; shown " + (performance.now() - noticed).toFixed(0) + " ms after the last one was noticed";
    document.body.dataset.latencyMs = (performance.now() - noticed).toFixed(1);
    noticed = 0;
    tell();
  };
  const lookAgain = async () => {
    try {
      const answer = await fetch("grown.json"), news = await answer.json();
      if (!answer.ok) throw new Error(news.error);
      if (news.views > views) {
        views = news.views, S.planned = news.planned, S.ring = news.ring;
        if (noticed === 0) noticed = performance.now();
        tell();
        askA.want(), askB.want();
        if (S.tab === "sinogram") askSinogram.want();
      }
      if (views >= news.planned) return;
    } catch (wrong) {
      complain(wrong.message);
    }
    setTimeout(lookAgain, lookEvery);
  };
  lookAgain();
}
