"""What a page owes to those who use a keyboard, and to those who see little contrast: WCAG 2.1, 1.4.3, 2.1.1, 2.1.2, 2.4.7."""
from pages import require

LEAST_CONTRAST = 4.5  # a ratio: text to what is behind it

# Every control that is seen and can be used, in the order of the page.
CONTROLS = """[...document.querySelectorAll("button, input, select, textarea, a[href], summary, [tabindex]")].filter(e =>
  e.tabIndex >= 0 && !e.disabled && e.getClientRects().length > 0 && getComputedStyle(e).visibility !== "hidden")"""

# What has the focus: its number among the controls, the width of its outline, and whether something hides that.
FOCUSED = """(() => { const e = document.activeElement, s = getComputedStyle(e), box = e.getBoundingClientRect();
  const outline = s.outlineStyle === "none" ? 0 : parseFloat(s.outlineWidth), beyond = outline + parseFloat(s.outlineOffset);
  const hides = parent => { const r = parent.getBoundingClientRect(), rounding = 0.5;
    return getComputedStyle(parent).overflow === "hidden" && (box.left - beyond < r.left - rounding || box.right + beyond > r.right + rounding ||
           box.top - beyond < r.top - rounding || box.bottom + beyond > r.bottom + rounding); };
  let hidden = false;
  for (let parent = e.parentElement; parent; parent = parent.parentElement) hidden ||= hides(parent);
  return {at: e === document.body ? -1 : controls.indexOf(e), name: e.id || e.outerHTML.slice(0, 80), outline, hidden}; })()"""

# Texts with too little contrast. Colours lie over each other; a disabled control and a text over a picture are left out.
FAINT = """(least => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
  const rgba = text => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data; return [r, g, b, a / 255]; };
  const over = (front, back) => back.map((v, k) => k === 3 ? 1 : front[k] * front[3] + v * (1 - front[3]));
  const light = c => { const [r, g, b] = c.map(v => v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = e => e ? over(rgba(getComputedStyle(e).backgroundColor), behind(e.parentElement)) : rgba("Canvas");
  const opacity = e => e ? Number(getComputedStyle(e).opacity) * opacity(e.parentElement) : 1;
  const faint = new Set();
  const check = (e, colour, text) => {
    if (!text.trim() || e.getClientRects().length === 0 || e.closest(":disabled, .scale, script, style")) return;
    const back = behind(e), [r, g, b, a] = rgba(colour), front = over([r, g, b, a * opacity(e)], back);
    const [low, high] = [light(front), light(back)].sort((x, y) => x - y), contrast = (high + 0.05) / (low + 0.05);
    if (contrast < least) faint.add(contrast.toFixed(2) + " " + (e.id || e.className.baseVal || e.className || e.tagName) + ": " + text.trim().slice(0, 40));
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const e = texts.currentNode.parentElement, s = getComputedStyle(e);
    check(e, e instanceof SVGElement ? s.fill : s.color, texts.currentNode.data);
  }
  for (const e of document.querySelectorAll("input, select")) {
    check(e, getComputedStyle(e).color, e.value);
    if (e.placeholder) check(e, getComputedStyle(e, "::placeholder").color, e.placeholder);
  }
  return [...faint];
})"""


def pressed(page, key, code, shift=False):
    for kind in ("rawKeyDown", "keyUp"):
        page.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, modifiers=8 if shift else 0)


def check_keyboard(page, what):
    """Tab comes to every control in the order of the page, with an outline, and leaves the page behind the last one."""
    page.value(f"document.activeElement.blur(), window.controls = {CONTROLS}, getSelection().removeAllRanges(), controls[0].focus(), 0")
    count = page.value("controls.length")
    for number in range(count):
        found = page.value(FOCUSED)
        require(found["at"] == number, what, "Tab comes to", found, "and not to", page.value(f"controls[{number}].id || controls[{number}].outerHTML"))
        if number > 0:  # the first one was not reached by a key
            require(found["outline"] >= 1 and not found["hidden"], what, "the focus of", found, "is not seen")
        pressed(page, "Tab", 9)
    require(page.value(FOCUSED)["at"] in (-1, 0), what, "Tab is caught behind the last control", page.value(FOCUSED))
    page.value(f"controls[{count - 1}].focus()")
    pressed(page, "Tab", 9, shift=True)
    require(page.value(FOCUSED)["at"] == count - 2, what, "Shift and Tab do not go back")


def check_contrast(page, what):
    faint = page.value(f"{FAINT}({LEAST_CONTRAST})")
    require(not faint, what, "texts with less contrast than", LEAST_CONTRAST, faint)


def audit(page, what):
    page.value("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    check_keyboard(page, what)
    check_contrast(page, what)
