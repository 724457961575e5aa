() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

  function parse(colour) {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return { rgb: [r, g, b], alpha: a / 255 };
  }

  function behind(element) {
    for (let one = element; one; one = one.parentElement) {
      const colour = parse(getComputedStyle(one).backgroundColor);
      if (colour.alpha === 1) return colour.rgb;
    }
    return [255, 255, 255];
  }

  function luminance(rgb) {
    const [r, g, b] = rgb.map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }

  function ratio(one, other) {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  }

  const low = [];
  let texts = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.matches("script")) continue;
    texts += 1;
    const style = getComputedStyle(element);
    const front = element.namespaceURI.endsWith("svg") ? style.fill : style.color;
    const found = ratio(parse(front).rgb, behind(element));
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && parseInt(style.fontWeight, 10) >= 700);
    const wanted = large ? 3 : 4.5;
    if (found < wanted) low.push({ text: walker.currentNode.data.trim().slice(0, 40), ratio: found, wanted });
  }
  return { texts, low };
}
