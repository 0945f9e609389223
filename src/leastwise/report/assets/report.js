"use strict";
/* Draws the pictures and lets people walk along the frontier. Every text of the data reaches the page as text:
   textContent in the panel, escaped() in the pictures, where the plotting library reads some tags. Of these only
   <br> is used: the others set style attributes, which the content security policy forbids. */
(function () {
  const root = document.documentElement;
  const data = JSON.parse(document.getElementById("data").textContent);
  const isNumber = Boolean(data.frontier && data.frontier.points.some((point) => point.test && point.test.number));
  const PRINT_WIDTH = 660;
  let printing = false;

  const escaped = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  /* Long names often differ at their end only: both ends stay. */
  const cut = (text, longest) => {
    if (text.length <= longest) return text;
    const tail = Math.floor(longest / 3);
    return text.slice(0, longest - tail - 1) + "…" + text.slice(text.length - tail);
  };
  const known = (value) => value !== null && value !== undefined;
  const percent = (share) => {
    const shown = (100 * share).toFixed(1);
    if (share > 0 && shown === "0.0") return "under 0.1\u00a0%";
    return (share < 1 && shown === "100.0" ? "over 99.9" : shown) + "\u00a0%";
  };
  const range = (pair) => !known(pair[0]) ? "" :
    `${(Math.floor(1000 * pair[0] + 1e-9) / 10).toFixed(1)} to ${(Math.ceil(1000 * pair[1] - 1e-9) / 10).toFixed(1)}\u00a0%`;
  const colour = (name) => getComputedStyle(root).getPropertyValue("--" + name).trim();
  const narrow = () => !printing && window.innerWidth < 640;

  function element(tag, text, className) {
    const made = document.createElement(tag);
    if (text !== undefined && text !== null) made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  /* ---------------------------------------------------------------- pictures */

  function layout(extra) {
    const axis = {
      color: colour("soft"), gridcolor: colour("line"), linecolor: colour("line"), zeroline: false, fixedrange: true,
      automargin: true, tickfont: { size: 12 }, ticklen: 4, tickcolor: colour("line"),
    };
    return Object.assign({}, extra, {
      font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: colour("ink") },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", dragmode: false, hovermode: "closest",
      hoverlabel: { bgcolor: colour("card"), bordercolor: colour("line"), align: "left", font: { family: getComputedStyle(document.body).fontFamily, color: colour("ink"), size: 13 } },
      legend: { orientation: "h", x: 0, y: 1, yanchor: "bottom", xanchor: "left", font: { size: 12, color: colour("soft") }, itemclick: false, itemdoubleclick: false },
      width: printing ? PRINT_WIDTH : undefined,
      xaxis: Object.assign({}, axis, extra.xaxis), yaxis: Object.assign({}, axis, extra.yaxis),
    });
  }
  const config = { displayModeBar: false, responsive: true, scrollZoom: false, doubleClick: false, showTips: false };

  function rowLayout(picture, rows, top) {
    const highest = Math.max(0.02, ...rows.flatMap((r) => [r.value, r.high, r.baseline, r.reference, r.without].map((v) => v || 0)));
    const longest = narrow() ? 19 : 30;
    return layout({
      height: 26 * rows.length + 62 + top + (narrow() && top ? 22 : 0), margin: { l: 8, r: 16, t: top + (narrow() && top ? 22 : 4), b: 44 }, showlegend: top > 0,
      xaxis: { range: [-0.004 * highest, Math.min(1.01, highest * 1.06)], tickformat: ",.0%", title: { text: escaped(narrow() ? picture.axis.replace(/ \(.*\)$/, "") : picture.axis), font: { size: 12, color: colour("soft") }, standoff: 8 }, nticks: narrow() ? 5 : 9 },
      yaxis: { range: [rows.length - 0.4, -0.6], tickvals: rows.map((_, i) => i), ticktext: rows.map((r) => escaped(cut(r.label, longest)) + " "), gridcolor: "rgba(0,0,0,0)", tickfont: { size: 12.5, color: colour("ink") }, ticklen: 0 },
    });
  }

  function bounds(rows, width) {
    return {
      type: "data", symmetric: false, color: colour("accent"), thickness: width, width: 4,
      array: rows.map((r) => r.high - r.value), arrayminus: rows.map((r) => r.value - r.low),
    };
  }

  /* Only some bars have an interval, and one of no width would look like one that is sure. */
  function whiskers(rows, shift) {
    const places = rows.map((_, i) => i).filter((i) => known(rows[i].high)), kept = places.map((i) => rows[i]);
    return {
      type: "scatter", mode: "markers", hoverinfo: "skip", showlegend: false, y: places.map((i) => i + shift), x: kept.map((r) => r.value),
      marker: { size: 1, opacity: 0 }, error_x: Object.assign(bounds(kept, 1.5), { color: colour("ink") }),
    };
  }

  function about(row, names) {
    const lines = [escaped(cut(row.label, 60)), percent(row.value) + (known(row.low) ? ` (${range([row.low, row.high])})` : "")];
    for (const key of ["baseline", "reference", "without"])
      if (names[key] && known(row[key])) lines.push(`${escaped(names[key])}: ${percent(row[key])}`);
    return lines.join("<br>");
  }

  function marks(rows, key, name, symbol, ink, size) {
    return {
      type: "scatter", mode: "markers", name: escaped(name), y: rows.map((_, i) => i), x: rows.map((r) => r[key]), hoverinfo: "skip",
      marker: { symbol, size, color: ink, line: { width: 2, color: ink } },
    };
  }

  function intervals(picture) {
    const rows = picture.rows, names = picture.names;
    const hover = { text: rows.map((row) => about(row, names)), hovertemplate: "%{text}<extra></extra>" };
    const traces = [marks(rows, "baseline", names.baseline, "line-ns-open", colour("soft"), 15)];
    if (names.reference) traces.push(marks(rows, "reference", names.reference, "circle-open", colour("faint"), 8));
    if (names.without) traces.push(marks(rows, "without", names.without, "x-thin-open", colour("mark"), 7));
    traces.push(Object.assign({
      type: "scatter", mode: "markers", name: escaped(names.value), y: rows.map((_, i) => i), x: rows.map((r) => r.value),
      error_x: bounds(rows, 1.5), marker: { size: 9, color: colour("accent") },
    }, hover));
    return [traces, rowLayout(picture, rows, 30)];
  }

  function bars(picture) {
    const rows = picture.rows, names = picture.names || {};
    const traces = [{
      type: "bar", orientation: "h", name: "found", showlegend: false, y: rows.map((_, i) => i), x: rows.map((r) => r.value), width: 0.5,
      marker: { color: colour("accent"), opacity: 0.85 },
      text: rows.map((row) => about(row, names)), textposition: "none", hovertemplate: "%{text}<extra></extra>",
    }, whiskers(rows, 0)];
    if (names.baseline) traces.push(marks(rows, "baseline", names.baseline, "line-ns-open", colour("mark"), 16));
    return [traces, rowLayout(picture, rows, names.baseline ? 30 : 0)];
  }

  function groups(picture) {
    const rows = picture.rows, series = picture.series, inks = [colour("faint"), colour("accent"), colour("mark")];
    const thick = 0.7 / series.length;
    const traces = series.flatMap((name, s) => {
      const values = rows.map((r) => Object.assign({ label: r.label + " · " + name }, r.values[s]));
      const shift = (s - (series.length - 1) / 2) * thick;
      return [{
        type: "bar", orientation: "h", name: escaped(name), y: rows.map((_, i) => i + shift), x: values.map((v) => v.value), width: 0.9 * thick, marker: { color: inks[s % 3] },
        text: values.map((v) => about(v, {})), textposition: "none", hovertemplate: "%{text}<extra></extra>",
      }, whiskers(values, shift)];
    });
    const flat = rows.flatMap((r) => r.values);
    const drawn = rowLayout(picture, rows.map((r) => Object.assign({ label: r.label }, r.values[0])), 30);
    drawn.xaxis.range = [0, Math.max(0.02, ...flat.map((v) => Math.max(v.value, v.high || 0))) * 1.06];
    drawn.xaxis.tickformat = picture.percent === false ? "" : ",.0%";
    return [traces, Object.assign(drawn, { height: drawn.height + 12 * rows.length, barmode: "overlay" })];
  }

  function curve(picture) {
    const strong = (s) => (s.strong ? { color: colour("accent"), width: 3 } : { color: colour("faint"), width: 1 });
    const traces = picture.series.slice().reverse().map((s) => ({
      type: "scatter", mode: s.strong ? "lines+markers" : "lines", x: picture.x.map((_, i) => i), y: s.values, line: strong(s), opacity: s.strong ? 1 : 0.75,
      marker: { size: 7 }, name: escaped(s.strong ? s.name : "single attributes"), showlegend: Boolean(s.strong) || s === picture.series[1],
      text: s.values.map((v, i) => `${escaped(cut(s.name, 60))}<br>surest ${picture.x[i]}\u00a0%: wrong ${percent(v)}`), hovertemplate: "%{text}<extra></extra>",
    }));
    return [traces, layout({
      height: 300, margin: { l: 8, r: 16, t: 34, b: 46 },
      xaxis: { tickvals: picture.x.map((_, i) => i), ticktext: picture.x.map((v) => v + "\u00a0%"), title: { text: escaped(picture.axis), font: { size: 12, color: colour("soft") }, standoff: 8 }, gridcolor: "rgba(0,0,0,0)" },
      yaxis: { rangemode: "tozero", tickformat: ",.0%", title: { text: "wrong (higher is safer)", font: { size: 12, color: colour("soft") }, standoff: 10 } },
    })];
  }

  const drawings = { intervals, bars, groups, curve };
  function drawPictures() {
    for (const [name, picture] of Object.entries(data.pictures)) {
      const place = document.getElementById("picture-" + name);
      if (place && picture) Plotly.react(place, ...drawings[picture.kind](picture), config);
    }
  }

  /* ---------------------------------------------------------------- the frontier */

  const frontier = data.frontier;
  const all = frontier ? [...frontier.points, ...frontier.screened] : [];
  /* Where nothing fits nothing is chosen: then it is about the one that comes nearest, and what it is called says so. */
  const subject = (point) => point.chosen || point.nearest;
  const tag = (point) => point.called;
  const plural = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
  let selected = all.findIndex(subject);
  const figures = (point) => point.test || point.validation;
  const title = (point) => point.title;

  // Of a label that is a number: how far off the model is, in its unit and as a share of what guessing is off.
  function modelWords(shown) {
    if (!shown.number) return `model wrong ${percent(shown.utility_risk)}`;
    const off = Number(shown.number.absolute.toPrecision(3)).toLocaleString("en");
    return `model off by ${off} ${shown.number.unit}`.trim() + ` (${percent(shown.utility_risk)} of guessing)`;
  }

  function hoverText(index) {
    const point = all[index], shown = figures(point);
    const kind = { screened: "screened candidate, validation part", frontier: "attacked, test part", limit: "limit point, test part" }[point.kind];
    return [
      escaped(title(point)), ...(point.made_by ? ["made by " + escaped(cut(point.made_by, 60))] : []), kind,
      escaped(modelWords(shown)), `attacker wrong ${percent(shown.adversary_error)}`,
      `${plural(point.asked, "question")}, ${point.answers_in_words}`, ...(tag(point) ? [escaped(tag(point))] : []),
    ].join("<br>");
  }

  function trace(indices, extra) {
    return Object.assign({
      type: "scatter", mode: "markers", x: indices.map((i) => figures(all[i]).utility_risk), y: indices.map((i) => figures(all[i]).adversary_error),
      customdata: indices, hovertext: indices.map(hoverText), hovertemplate: "%{hovertext}<extra></extra>",
    }, extra);
  }

  function spread(indices, key, ink) {
    const [value, interval] = key === "x" ? ["utility_risk", "utility_interval"] : ["adversary_error", "adversary_interval"];
    return {
      type: "data", symmetric: false, color: ink, thickness: 1, width: 0,
      array: indices.map((i) => figures(all[i])[interval][1] - figures(all[i])[value]),
      arrayminus: indices.map((i) => figures(all[i])[value] - figures(all[i])[interval][0]),
    };
  }

  function frontierTraces() {
    const of = (kind) => all.map((_, i) => i).filter((i) => all[i].kind === kind);
    const best = of("frontier"), chosen = best.filter((i) => tag(all[i]) === "chosen"), nearest = best.filter((i) => tag(all[i]) && !chosen.includes(i));
    /* The candidates were found on validation; through those that are beaten on test leads no line. */
    const joined = (indices) => frontier.line.filter((i) => indices.includes(i));
    const numbered = (indices, size, ink, paper) => ({
      mode: "markers+text", text: indices.map((i) => all[i].place), textfont: { size: 11, color: paper },
      marker: { size, color: indices.map((i) => (frontier.line.includes(i) || all[i].chosen ? ink : colour("faint"))), opacity: 1, line: { width: 0 } },
    });
    const line = (indices, extra) => trace(joined(indices), { mode: "lines", hoverinfo: "skip", hovertemplate: null, showlegend: false, line: Object.assign({ color: colour("accent"), width: 1.5 }, extra) });
    const ring = selected < 0 ? [] : [selected];
    return [
      trace(of("screened"), { name: "screened (validation part)", marker: { size: 6, color: colour("faint"), opacity: 0.45 } }),
      line([0, ...best, all.findIndex((p) => p.id === "suppressed")], { width: 1, dash: "dot" }),
      line(best, {}),
      trace(best, Object.assign(numbered(best, 16, colour("accent"), colour("card")), { showlegend: false, error_x: spread(best, "x", colour("spread")), error_y: spread(best, "y", colour("spread")) })),
      trace(of("limit"), { name: "limit points", marker: { symbol: "diamond-open", size: 11, color: colour("soft"), line: { width: 2 } } }),
      chosen.length || !nearest.length
        ? trace(chosen, Object.assign(numbered(chosen, 19, colour("mark"), colour("card")), { name: "chosen" }))
        : trace(nearest, { name: tag(all[nearest[0]]), mode: "markers+text", text: nearest.map((i) => all[i].place), textfont: { size: 11, color: colour("mark") }, marker: { size: 19, color: colour("card"), opacity: 1, line: { width: 2, color: colour("mark") } } }),
      trace(ring, { hoverinfo: "skip", hovertemplate: null, showlegend: false, marker: { symbol: "circle-open", size: 22, color: colour("ink"), line: { width: 2 } } }),
      /* The legend would show the colour of the first one, which may be a beaten one. */
      { type: "scatter", mode: "markers", x: [null], y: [null], name: narrow() ? "attacked (test); grey: beaten" : "attacked (test part, 95 % intervals); grey: beaten", marker: { size: 16, color: colour("accent") }, hoverinfo: "skip", legendrank: 999 },
    ];
  }

  function labels() {
    const named = all.filter((point) => point.name), risks = all.map((point) => figures(point).utility_risk);
    const right = Math.min(...risks) + 0.7 * (Math.max(...risks) - Math.min(...risks));
    return named.map((point) => {
      const end = point.id === "suppressed", start = point.id === "untouched", left = figures(point).utility_risk > right;
      return {
        x: figures(point).utility_risk, y: figures(point).adversary_error, text: escaped(cut(point.name, narrow() ? 28 : 44)), showarrow: false, xanchor: left ? "right" : "left",
        yanchor: end ? "bottom" : start ? "middle" : "top", xshift: left ? 6 : start ? 12 : 9, yshift: end ? 9 : start ? 0 : -11, bgcolor: colour("card"), borderpad: 1, font: { size: 12, color: subject(point) ? colour("mark") : colour("soft") },
      };
    });
  }

  function drawFrontier() {
    if (!frontier) return;
    const top = narrow() ? 84 : 40;
    const place = document.getElementById("frontier");
    const height = Math.max(0.02, ...all.map((point) => Math.max(figures(point).adversary_error, figures(point).adversary_interval[1])));
    Plotly.react(place, frontierTraces(), layout({
      height: printing ? 400 : undefined, margin: { l: 8, r: 20, t: top, b: 46 }, annotations: labels(), showlegend: true,
      xaxis: { tickformat: ",.1~%", nticks: narrow() ? 5 : 9, title: { text: narrow() ? "model errors" : `${isNumber ? "how far off the model is; 100 % is guessing" : "how often the model is wrong"} (further left is better)`, font: { size: 12, color: colour("soft") }, standoff: 8 } },
      yaxis: { tickformat: ",.0%", range: [-0.035 * height, 1.1 * height], title: { text: narrow() ? "attacker errors" : "how often the attacker is wrong (higher is safer)", font: { size: 12, color: colour("soft") }, standoff: 8 } },
    }), config);
    if (!place.dataset.listening) {
      place.dataset.listening = "yes";
      place.on("plotly_click", (event) => select(event.points[0].customdata));
    }
  }

  function tableOf(head, rows) {
    const table = element("table"), top = table.createTHead().insertRow(), body = table.createTBody();
    for (const text of head) { const cell = element(text ? "th" : "td", text); if (text) cell.scope = "col"; top.append(cell); }
    for (const cells of rows) {
      const row = body.insertRow();
      cells.forEach((text, i) => {
        const pair = Array.isArray(text) ? text : [text, ""], cell = element(i ? "td" : "th", pair[0]);
        if (pair[1]) cell.append(element("small", pair[1]));
        if (!i) cell.scope = "row";
        row.append(cell);
      });
    }
    const scroll = element("div", null, rows.length > 12 ? "scroll tall" : "scroll");
    if (rows.length > 12) scroll.tabIndex = 0;
    scroll.append(table);
    return scroll;
  }

  function figureTable(point) {
    const parts = [["test part", point.test], ["validation part", point.validation]].filter((pair) => pair[1]);
    const rows = [
      [isNumber ? "model off, of guessing" : "model wrong", (f) => [percent(f.utility_risk), range(f.utility_interval)]], ["attacker wrong (A1)", (f) => [percent(f.adversary_error), range(f.adversary_interval)]],
      ["whoever sees only these and their labels is wrong, at least (95 %)", (f) => (f.certified === null ? "not certified" : percent(f.certified))], ["people alone (A8)", (f) => f.unique_people.toLocaleString("en")],
    ];
    return tableOf(["", ...parts.map((pair) => pair[0])], rows.map((row) => [row[0], ...parts.map((pair) => row[1](pair[1]))]));
  }

  function attackerTable(point) {
    const rows = point.attacker && point.attacker.length
      ? point.attacker.map((t) => [t.label, [percent(t.value), range([t.low, t.high])], percent(t.baseline), t.certified === null ? "" : percent(t.certified)])
      : Object.entries(figures(point).by_attribute).map(([name, value]) => [name, percent(value)]);
    return tableOf(["attribute", "attacker wrong (A1)", "naive guess", "any attacker, at least"].slice(0, rows.length ? rows[0].length : 1), rows);
  }

  function bucketList(point) {
    const list = element("ul"), unasked = [];
    frontier.attributes.forEach((attribute, j) => {
      const texts = frontier.texts[point.buckets[j]];
      if (texts.length === 1 && texts[0] === "not asked") { unasked.push(attribute.name); return; }
      const item = element("li");
      item.append(element("b", attribute.name));
      const shares = point.shares && point.shares[j];
      texts.forEach((text, b) => {
        const answer = element("span", text, "answer");
        if (shares && b < shares.length && !text.startsWith("… ")) answer.append(" ", element("small", percent(shares[b])));
        item.append(answer, " ");
      });
      list.append(item);
    });
    if (unasked.length) list.append(element("li", "Not asked: " + unasked.join(", "), "soft"));
    return list;
  }

  function fillPanel(point) {
    const panel = document.getElementById("panel");
    const heading = element("h3", title(point)), left = element("div"), right = element("div"), columns = element("div", null, "columns");
    if (tag(point)) heading.append(element("span", tag(point), "tag chosen"));
    heading.append(element("span", { screened: "screened only", frontier: "attacked", limit: "limit point" }[point.kind], "tag"));
    if (point.kind === "frontier" && !frontier.line.includes(all.indexOf(point))) heading.append(element("span", "beaten on the test part", "tag"));
    const words = [point.made_by ? `Made by ${point.made_by}, seed ${point.seed}.` : "", point.also.length ? `Also found by ${point.also.join(", ")}.` : "", `${point.nearest ? "Would ask" : "Asks"} ${point.asked} of ${plural(frontier.attributes.length, "question")}, ${point.answers_in_words}.`];
    left.append(element("h4", "Errors, with 95 % intervals"), figureTable(point), element("h4", "How often an attacker is wrong about each personal attribute"), attackerTable(point));
    right.append(element("h4", "What would be asked"), bucketList(point));
    if (point.certificate && point.certificate.length) {
      const list = element("ul"), folded = element("details");
      for (const sentence of point.certificate) list.append(element("li", sentence));
      folded.append(element("summary", point.certificate.length === 1 ? "The sentence" : `All ${point.certificate.length} sentences`), list);
      right.append(element("h4", "What nobody can tell who sees only the generalized records and their labels"), element("p", point.certificate[point.certificate.length - 1], "small"), folded);
    }
    const command = element("p", null, "small");
    if (point.command) command.append(point.chosen ? `${tag(point) === "chosen" ? "This one is chosen." : "This one is chosen as the nearest; it does not fit."} By its id: ` : point.nearest ? "To take this one all the same: " : "To choose this one: ", element("code", point.command, "command"), " (“run” is the folder of this run)");
    else if (point.kind === "screened") command.append("Only candidates that were attacked can be chosen. Its id: ", element("code", point.id, "command"));
    columns.append(left, right);
    panel.classList.toggle("told-below", subject(point));
    panel.replaceChildren(heading, element("p", words.filter(Boolean).join(" "), "soft small"), command, columns);
  }

  function select(index) {
    if (index < 0 || index >= all.length) return;
    selected = index;
    const point = all[index], box = document.getElementById("candidates"), last = frontier.points.length - 1;
    box.querySelectorAll("[role=option]").forEach((option, i) => option.setAttribute("aria-selected", String(i === index)));
    if (index <= last) box.setAttribute("aria-activedescendant", "candidate-" + index);
    else box.removeAttribute("aria-activedescendant");
    document.getElementById("previous").disabled = index === 0;
    document.getElementById("next").disabled = index >= last;
    document.getElementById("said").textContent = `${title(point)}: ${modelWords(figures(point))}, attacker wrong ${percent(figures(point).adversary_error)}`;
    fillPanel(point);
    const place = document.getElementById("frontier");
    Plotly.restyle(place, { x: [[figures(point).utility_risk]], y: [[figures(point).adversary_error]] }, [6]);
  }

  function step(change) {
    const last = frontier.points.length - 1;
    const from = selected > last ? frontier.points.findIndex(subject) : selected;
    select(Math.min(last, Math.max(0, from + change)));
  }

  function listen() {
    const last = frontier.points.length - 1;
    const keys = { ArrowRight: () => step(1), ArrowDown: () => step(1), ArrowLeft: () => step(-1), ArrowUp: () => step(-1), Home: () => select(0), End: () => select(last) };
    document.getElementById("candidates").addEventListener("keydown", (event) => {
      if (!keys[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      keys[event.key]();
    });
    document.getElementById("previous").addEventListener("click", () => step(-1));
    document.getElementById("next").addEventListener("click", () => step(1));
    document.getElementById("back").addEventListener("click", () => select(all.findIndex(subject)));
  }

  /* ---------------------------------------------------------------- theme, print, start */

  function draw() { drawFrontier(); drawPictures(); }

  const wish = window.matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : wish.matches);
  const button = document.getElementById("theme");
  function name() { button.textContent = dark() ? "Light theme" : "Dark theme"; }
  button.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; name(); draw(); });
  wish.addEventListener("change", () => { name(); draw(); });

  /* On paper everything is unfolded, and every sheet says what it is of: the date, and the fingerprint. */
  const sheet = document.styleSheets[0];
  let theme, folded = [], rule = -1;
  window.addEventListener("beforeprint", () => {
    theme = root.dataset.theme; root.dataset.theme = "light"; printing = true; draw();
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const each of folded) each.open = true;
    const of = ["leastwise", data.fingerprint ? data.of + " " + data.fingerprint.slice(0, 12) : "", "printed " + new Date().toISOString().slice(0, 10)];
    rule = sheet.insertRule(`@page { @bottom-left { content: "${of.filter(Boolean).join(" · ")}"; font: 8pt system-ui, sans-serif; color: #4a515b; } }`, sheet.cssRules.length);
  });
  window.addEventListener("afterprint", () => {
    for (const each of folded) each.open = false;
    if (rule >= 0) sheet.deleteRule(rule);
    rule = -1; printing = false;
    if (theme) root.dataset.theme = theme; else delete root.dataset.theme;
    draw();
  });
  let was = narrow();
  window.addEventListener("resize", () => { if (narrow() !== was) { was = narrow(); draw(); } });

  root.classList.remove("no-js");
  name();
  draw();
  if (frontier) { listen(); select(selected < 0 ? 0 : selected); }
})();
