import type { Colour, Line, Span, Style } from './screen.ts';

/** The screen content from `atMs` on, in ms since the start. */
export type Frame = { atMs: number; lines: Line[] };
export type Animation = { title: string; columns: number; frames: Frame[] };

const FONT_SIZE = 14;
const LINE_HEIGHT = 20;
/** Width of a character: the widest of the fonts below is 0.62 em wide. */
const CHARACTER_WIDTH = FONT_SIZE * 0.62;
const PADDING = 16;

/** Colors for the light and dark color schemes, each with a contrast ratio of at least 4.5 to its background. */
const LIGHT: Record<Colour | 'text' | 'ground' | 'frame', string> = {
  ...{ text: '#1f2328', ground: '#f6f8fa', frame: '#d1d9e0', red: '#b3261e', green: '#116329' },
  ...{ yellow: '#7d4e00', blue: '#0550ae', magenta: '#8250df', cyan: '#0b6b74' },
};
const DARK: typeof LIGHT = {
  ...{ text: '#e6edf3', ground: '#1d2026', frame: '#3d444d', red: '#ff8a80', green: '#7ec699' },
  ...{ yellow: '#e3b341', blue: '#79b8ff', magenta: '#d2a8ff', cyan: '#76d5e3' },
};

/**
 * Renders the animation as an SVG file without scripts. It plays once and stops at its last frame, which is also shown under
 * prefers-reduced-motion and by viewers that do not support animation. Each text is an element with the time span in which it is visible.
 */
export function renderSvg({ title, columns, frames }: Animation): string {
  const rows = frames.reduce((most, { lines }) => Math.max(most, lines.length), 1);
  const width = Math.ceil(columns * CHARACTER_WIDTH + 2 * PADDING);
  const height = rows * LINE_HEIGHT + 2 * PADDING;
  const texts = Array.from({ length: rows }, (_, row) => textsOfRow(frames, row)).flat();
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">
<title id="title">${escapeText(title)}</title>
<style>
text{font:${FONT_SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace;white-space:pre}
.bold{font-weight:bold}.dim{opacity:.65}
${colourRules(LIGHT)}
@media(prefers-color-scheme:dark){${colourRules(DARK)}}
@keyframes stay{from{visibility:hidden}}
@keyframes pass{from,to{visibility:visible}}
.stay{animation:stay 0s both}
.pass{animation-name:pass;visibility:hidden}
@media(prefers-reduced-motion:reduce){.stay,.pass{animation:none}}
</style>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8"/>
<g xml:space="preserve">
${texts.join('\n')}
</g>
</svg>
`;
}

function colourRules({ text, ground, frame, ...colours }: typeof LIGHT): string {
  const tones = Object.entries(colours).map(([name, value]) => `.${name}{fill:${value}}`);
  return `rect{fill:${ground};stroke:${frame}}text{fill:${text}}${tones.join('')}`;
}

/** The text elements of one screen row, in chronological order. */
function textsOfRow(frames: Frame[], row: number): string[] {
  const texts: string[] = [];
  let shown: { text: string; fromMs: number } = { text: '', fromMs: 0 };
  const end = (untilMs?: number) => {
    if (shown.text !== '') texts.push(textElement(shown.text, row, { ...shown, untilMs }));
  };
  for (const { atMs, lines } of frames) {
    const text = (lines[row] ?? []).map(spanElement).join('');
    if (text === shown.text) continue;
    end(atMs);
    shown = { text, fromMs: atMs };
  }
  end();
  return texts;
}

function textElement(content: string, row: number, { fromMs, untilMs }: { fromMs: number; untilMs?: number }): string {
  const y = PADDING + row * LINE_HEIGHT + FONT_SIZE;
  const duration = untilMs === undefined ? '' : `animation-duration:${untilMs - fromMs}ms;`;
  const shown = `class="${untilMs === undefined ? 'stay' : 'pass'}" style="${duration}animation-delay:${fromMs}ms"`;
  return `<text x="${PADDING}" y="${y}" ${shown}>${content}</text>`;
}

function spanElement({ text, style }: Span): string {
  const classes = classesOf(style);
  return classes === '' ? escapeText(text) : `<tspan class="${classes}">${escapeText(text)}</tspan>`;
}

function classesOf({ colour, bold, dim }: Style): string {
  return [colour, bold && 'bold', dim && 'dim'].filter((name) => name).join(' ');
}

const escapeText = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
