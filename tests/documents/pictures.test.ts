/** The documents' pictures, and the code that records them: terminal session, screen, SVG. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { renderSvg } from '../../scripts/pictures/animated-svg.ts';
import { framesOf } from '../../scripts/pictures/frames.ts';
import { type Line, Screen } from '../../scripts/pictures/screen.ts';
import { TerminalSession } from '../../scripts/pictures/terminal-session.ts';

const DOCS = new URL('../../docs/', import.meta.url);
const MAX_PICTURE_BYTES = 60_000;

const plain = { colour: undefined, bold: false, dim: false };
const textOf = (line: Line) => line.map(({ text }) => text).join('');

/** Returns the contents of an 8 by 3 screen after these chunks of output. */
function shown(...pieces: string[]): string[] {
  const screen = new Screen({ columns: 8, rows: 3 });
  for (const piece of pieces) screen.write(piece);
  return screen.lines.map(textOf);
}

test('a screen wraps, scrolls and moves its cursor like a terminal', () => {
  const table: [string[], string[]][] = [
    [['one\r\ntwo'], ['one', 'two']],
    [['12345678'], ['12345678']],
    [['123456789'], ['12345678', '9']],
    [['12345678\r\n9'], ['12345678', '9']],
    [['a\r\nb\r\nc\r\nd'], ['b', 'c', 'd']],
    [['one\r\ntwo\r\n\x1b[2A\x1b[0Jnew'], ['new']],
    [
      ['one\r\ntwo\r\n\x1b[A', 'T'],
      ['one', 'Two', ''],
    ],
    [['a progress\r\x1b[Kend'], ['a progre', 'end']],
    [['cut\x1b', '[', '1mbold\x1b[22', 'm'], ['cutbold']],
    [['a\nb'], ['a', ' b']],
  ];
  for (const [pieces, expected] of table) assert.deepEqual(shown(...pieces), expected, JSON.stringify(pieces));
});

test('a screen supports the colors used by commands, per span', () => {
  const screen = new Screen({ columns: 20, rows: 2 });
  screen.write('\x1b[1;31mred\x1b[0m \x1b[2mdim\x1b[22m\x1b[36mcyan\x1b[39m  ');
  assert.deepEqual(screen.lines, [
    [
      { text: 'red', style: { colour: 'red', bold: true, dim: false } },
      { text: ' ', style: plain },
      { text: 'dim', style: { colour: undefined, bold: false, dim: true } },
      { text: 'cyan', style: { colour: 'cyan', bold: false, dim: false } },
    ],
  ]);
});

test('an unsupported control sequence is an error', () => {
  for (const text of ['\x1b[2J', '\x1b[1;1H', '\x1b[7m', '\x1b]0;title\x07', '\x07', '\t', '漢', '\x1b[?25l'])
    assert.throws(() => shown(text), /is not supported by this terminal emulator/, JSON.stringify(text));
});

test('each text appears once in the picture, with its time, and the last frame stays', () => {
  const frame = (atMs: number, ...texts: string[]) => ({
    atMs,
    lines: texts.map((text) => (text === '' ? [] : [{ text, style: plain }])),
  });
  const svg = renderSvg({
    title: 'a <b> & c',
    columns: 10,
    frames: [frame(0, '$ x'), frame(50, '$ x', 'wait'), frame(90, '$ x', '1 < 2 && 3')],
  });
  const texts = [...svg.matchAll(/<text .*class="(\w+)" style="(.*)">(.*)<\/text>/g)].map((match) => match.slice(1, 4));
  assert.deepEqual(texts, [
    ['stay', 'animation-delay:0ms', '$ x'],
    ['pass', 'animation-duration:40ms;animation-delay:50ms', 'wait'],
    ['stay', 'animation-delay:90ms', '1 &lt; 2 &amp;&amp; 3'],
  ]);
  assert.match(svg, /<title id="title">a &lt;b&gt; &amp; c<\/title>/);
});

test('a terminal session is recorded', async () => {
  const size = { columns: 80, rows: 10 };
  await using terminal = new TerminalSession(size, (...command) => command, {});
  await terminal.until(/\$ $/);
  await terminal.type("stty size; printf '\\033[31mred\\033[0m\\n'; tput cols; sleep 60");
  await terminal.until(/red[\s\S]*80/);
  terminal.press('\x03');
  await terminal.until(/\n\$ $/);
  const frames = framesOf(terminal.outputs, size);
  const last = frames.at(-1)!.lines.map(textOf);
  assert.deepEqual(last, [
    "$ stty size; printf '\\033[31mred\\033[0m\\n'; tput cols; sleep 60",
    '10 80',
    'red',
    '80',
    '^C',
    '$',
  ]);
  assert.equal(frames.at(-1)!.lines[2]![0]!.style.colour, 'red');
  const typing = frames.filter(({ lines }) => /^\$ stty.{0,9}$/.test(textOf(lines[0]!)));
  assert.ok(typing.length >= 4, 'typed keys are separate frames');
});

test('the pictures are small, have no scripts, suit light and dark themes, and respect prefers-reduced-motion', () => {
  const names = readdirSync(DOCS).filter((name) => name.endsWith('.svg'));
  assert.deepEqual(names, ['crash-loop.svg', 'run.svg']);
  for (const name of names) {
    const svg = readFileSync(new URL(name, DOCS), 'utf8');
    assert.ok(svg.length <= MAX_PICTURE_BYTES, `${name} has ${svg.length} bytes`);
    assert.doesNotMatch(svg, /<script|<foreignObject|href|@import|url\(| on\w+=/);
    assert.match(svg, /prefers-color-scheme:dark/);
    assert.match(svg, /prefers-reduced-motion:reduce\)\{\.stay,\.pass\{animation:none/);
    const last = [...svg.matchAll(/class="stay".*?>(.*)<\/text>/g)].map((match) => match[1]!.replace(/<.*?>/g, ''));
    assert.match(last[0]!, /^\$ podwright run examples\/[a-z-]+\.yaml$/, name);
    assert.equal(last.at(-1), '$', name);
  }
});
