
// A scan that is still written: the slice is that of the views of the last half turn, and follows them.

const lookEvery = 150, lookAfterTrouble = 1000;  // ms, for new views

/** How many views there are, since when none has come, and why the next one does not count. */
function wordsOfFollowing(news, shown) {
  const soon = 2, late = news.waited > news.patience, waits = news.views < news.planned && news.waited > soon;
  const since = new Date(Date.now() - 1000 * news.waited).toTimeString().slice(0, 8);
  return news.views + " of " + news.planned + " views; the slice is of views " + news.ring[0] + " to " + (news.ring[1] - 1) + shown +
    (news.unplanned > 0 ? "; " + news.unplanned + " more than planned are there" : "") +
    (waits ? "; none has come since " + since + (late ? ", for more than " + news.patience + " s" : "") : "") +
    (waits && news.next ? "; the next one does not count: " + news.next : "");
}

function follow() {
  const line = made("p", "", "soft note"), trouble = {};
  line.id = "followed", line.setAttribute("role", "status");
  at("caption-a").after(line);
  let news = {views: 0}, noticed = 0, shown = "";
  const tell = () => {
    const words = wordsOfFollowing(news, shown);
    if (line.textContent !== words) line.textContent = words;  // said aloud only if it is new
    line.classList.toggle("wrong", news.views < news.planned && news.waited > news.patience);
  };
  askA.shown = found => {
    took(found);
    if (found.rough || noticed === 0) return;
    shown = "; shown " + (performance.now() - noticed).toFixed(0) + " ms after the last one was noticed";
    document.body.dataset.latencyMs = (performance.now() - noticed).toFixed(1);
    noticed = 0;
    tell();
  };
  const lookAgain = async () => {
    let pause = lookEvery;
    try {
      const before = news.views;
      news = await (await answerTo("grown.json")).json();
      if (news.views > before) {
        if (noticed === 0) noticed = performance.now();
        askA.want(), askB.want();
        if (S.tab === "sinogram") askSinogram.want();
      }
      tell();
      if (failed.has(trouble)) succeeded(trouble);
      if (news.views >= news.planned) return;
    } catch (wrong) {
      failedWith(trouble, wrong.message);
      pause = lookAfterTrouble;
    }
    setTimeout(lookAgain, pause);
  };
  lookAgain();
}
