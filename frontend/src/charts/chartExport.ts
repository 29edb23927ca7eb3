// A chart as a file: CSV from its view model, PNG from the drawn SVG.
import { MARK_COLOR, markPath } from './mark';
import type { Annotation, TimeChartModel } from './timeChartModel';

function csvCell(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * The values of a chart as CSV: a header with the series' names, then one line for each time in UTC. Gaps are empty.
 */
export function chartCsv(model: TimeChartModel): string {
  const head = ['time_utc', ...model.series.map(({ label }) => csvCell(label))];
  const lines = model.rows.map((row) =>
    [new Date(row.at).toISOString(), ...model.series.map(({ key }) => row[key] ?? '')].join(','),
  );
  return [head.join(','), ...lines].join('\n') + '\n';
}

/**
 * Joins the words to a file name without extension, such as `demo-1-hit-ratio`, from letters and digits only, which
 * every file system accepts.
 */
export function fileNameOf(...words: string[]): string {
  const parts = words
    .join(' ')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu);
  return (parts ?? ['chart']).join('-');
}

/** Makes the browser download `content` as a file with this name. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

const INLINED = [
  'fill',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'font-size',
  'font-family',
  'opacity',
  'fill-opacity',
];

/**
 * Returns a copy of the drawing with its computed styles inlined, because a file does not have the page's CSS
 * variables. The drawing on the page does not change.
 */
function standaloneSvg(svg: SVGSVGElement): SVGSVGElement {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const originals = [svg, ...svg.querySelectorAll<SVGElement>('*')];
  const copies = [copy, ...copy.querySelectorAll<SVGElement>('*')];
  originals.forEach((original, index) => {
    const computed = getComputedStyle(original);
    for (const property of INLINED)
      copies[index]?.style.setProperty(property, computed.getPropertyValue(property));
  });
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  return copy;
}

async function loadImage(source: string): Promise<HTMLImageElement> {
  const image = new Image();
  image.src = source;
  await image.decode();
  return image;
}

/** Title, legend and marks that are drawn into an exported picture, since it is viewed without the page. */
export interface Heading {
  title: string;
  subtitle: string;
  series: TimeChartModel['series'];
  /** The meanings of the marks at the top of the chart, one text for each kind, as `marksOf` returns them. */
  marks: string[];
}

/**
 * Returns one description for each kind of mark, in order of first use: `label, time` for a single mark, otherwise
 * `label × count`. `momentOf` formats a time.
 */
export function marksOf(annotations: Annotation[], momentOf: (at: number) => string): string[] {
  const moments = new Map<string, number[]>();
  for (const { label, at } of annotations) moments.set(label, [...(moments.get(label) ?? []), at]);
  return [...moments].map(([label, [at, ...others]]) =>
    at !== undefined && others.length === 0 ? `${label}, ${momentOf(at)}` : `${label} × ${others.length + 1}`,
  );
}

const MARGIN = 12;
const LINE = 18;

/**
 * The positions of a legend's names, on as many lines as they need: `x` in pixels from the left, `line` from 0.
 * `widths` are the widths of the names and `room` that of a line.
 */
export function legendPlaces(widths: number[], room: number): { x: number; line: number }[] {
  let [x, line] = [0, 0];
  return widths.map((width) => {
    if (x > 0 && x + width > room) [x, line] = [0, line + 1];
    const place = { x, line };
    x += width;
    return place;
  });
}

const SWATCH = 22;

/**
 * Draws title, subtitle and legend at the top of the canvas, and returns their height in pixels. Resizing a canvas
 * clears it, so the heading has to be drawn again afterwards.
 */
function drawHeading(context: CanvasRenderingContext2D, heading: Heading, width: number): number {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const family = getComputedStyle(document.body).fontFamily;
  const write = (text: string, x: number, y: number, font: string, ink: string) => {
    context.font = `${font} ${family}`;
    context.fillStyle = colour(ink);
    context.fillText(text, x, y);
  };
  write(heading.title, MARGIN, 22, '600 15px', '--fqc-text');
  write(heading.subtitle, MARGIN, 22 + LINE, '12px', '--fqc-muted');
  context.font = `12px ${family}`;
  const labels = [...heading.series.map(({ label }) => label), ...heading.marks];
  const widths = labels.map((label) => SWATCH + context.measureText(label).width + MARGIN);
  const places = legendPlaces(widths, width - 2 * MARGIN);
  labels.forEach((label, index) => {
    const { x, line } = places[index] ?? { x: 0, line: 0 };
    const [left, y] = [MARGIN + x, 22 + LINE * (line + 2)];
    write(label, left + SWATCH, y, '12px', '--fqc-text');
    const series = heading.series[index];
    if (series === undefined) {
      context.fillStyle = colour(MARK_COLOR);
      context.fill(new Path2D(markPath(left + 8, y - 6)));
      return;
    }
    context.strokeStyle = colour(`--fqc-series-${series.color}`);
    context.lineWidth = 3;
    context.setLineDash(series.isDashed ? [5, 3] : series.isDotted ? [3, 3] : []);
    context.beginPath();
    context.moveTo(left, y - 4);
    context.lineTo(left + SWATCH - 6, y - 4);
    context.stroke();
  });
  return headingHeight(places);
}

function headingHeight(places: { line: number }[]): number {
  return 22 + LINE * ((places.at(-1)?.line ?? 0) + 2) + 10;
}

/**
 * Draws a chart with its heading as a PNG, `scale` times as large as on the page. Rejects if the browser cannot draw
 * it.
 */
export async function chartPng(
  svg: SVGSVGElement,
  heading: Heading,
  background: string,
  scale = 2,
): Promise<Blob> {
  const { width, height } = svg.getBoundingClientRect();
  const markup = new XMLSerializer().serializeToString(standaloneSvg(svg));
  const image = await loadImage(`data:image/svg+xml;charset=utf-8,${encodeURIComponent(markup)}`);
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('2d');
  if (!context) throw new Error('This browser offers no canvas to draw the picture on.');
  const top = drawHeading(context, heading, width);
  canvas.width = width * scale;
  canvas.height = (height + top) * scale;
  context.scale(scale, scale);
  context.fillStyle = background;
  context.fillRect(0, 0, width, height + top);
  drawHeading(context, heading, width);
  context.drawImage(image, 0, top, width, height);
  return new Promise((resolve, reject) => {
    canvas.toBlob(
      (blob) => (blob ? resolve(blob) : reject(new Error('The picture could not be encoded.'))),
      'image/png',
    );
  });
}
