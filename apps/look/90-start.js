
async function begin() {
  try {
    S.about = await (await fetch("about.json")).json();
  } catch {
    return complain("tandem look does not answer; was it ended?");
  }
  S.options = {...S.about.start};
  showFacts();
  makeControls();
  setUpSlice(), setUpScan(), setUpSweep(), setUpGeometry(), setUpSolve(), setUpRecipe();
  setTab("slice");
  askA.want();
  wantRecipe();
  if (S.about.follows) follow();
}
begin();
