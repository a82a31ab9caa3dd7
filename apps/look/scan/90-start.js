
begin(() => {
  S.options = {...S.about.start};
  showFacts();
  makeControls();
  setUpSlice(), setUpScan(), setUpSweep(), setUpGeometry(), setUpSolve(), setUpRecipe();
  setTab("slice");
  askA.want();
  wantRecipe();
  if (S.about.follows) follow();
});
