/**
 * Records the pictures for the documentation from real terminal sessions: `node scripts/record-pictures.ts` writes docs/*.svg. Requires
 * root, the bundles in dist/ and the example image (`make pictures`).
 */
import { writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { sleep } from '@podwright/base';
import { runChecked } from '@podwright/host';
import { renderSvg } from './pictures/animated-svg.ts';
import { framesOf } from './pictures/frames.ts';
import { TerminalSession, type TerminalSize } from './pictures/terminal-session.ts';
import { PrivateHost } from './private-host.ts';

const CHECKOUT = join(import.meta.dirname, '..');
const CTRL_C = '\x03';
/** Pause in a recording, which gives the audience time to read the output. */
const READING_MS = 1500;

type Picture = { file: string; title: string; size: TerminalSize; play: (terminal: TerminalSession) => Promise<void> };

const pictures: Picture[] = [
  {
    file: 'docs/run.svg',
    title:
      'podwright run in a terminal: two pods come up, their logs, the table, and Ctrl-C, which leaves nothing behind',
    size: { columns: 80, rows: 30 },
    play: async (terminal) => {
      await terminal.type('podwright run examples/hello.yaml');
      await terminal.until(/TOOK[\s\S]*Hello from|Hello from[\s\S]*TOOK/);
      await sleep(READING_MS);
      terminal.press(CTRL_C);
      await terminal.until(/\n\$ $/);
    },
  },
  {
    file: 'docs/crash-loop.svg',
    title: 'podwright run in a terminal: a container that crashes again and again, and why',
    size: { columns: 100, rows: 30 },
    play: async (terminal) => {
      await terminal.type('podwright run examples/crash-loop.yaml');
      await terminal.until(/CrashLoopBackOff/);
      await sleep(READING_MS);
      terminal.press(CTRL_C);
      await terminal.until(/\n\$ $/);
    },
  },
];

async function record(picture: Picture, host: PrivateHost): Promise<void> {
  const path = [join(CHECKOUT, 'bin'), process.env.PATH].join(delimiter);
  const inside = (...command: string[]) => host.command(CHECKOUT, ...command);
  await using terminal = new TerminalSession(picture.size, inside, { PATH: path });
  await terminal.until(/\$ $/);
  await sleep(READING_MS / 3);
  await picture.play(terminal);
  const { title, size } = picture;
  const svg = renderSvg({ title, columns: size.columns, frames: framesOf(terminal.outputs, size) });
  writeFileSync(join(CHECKOUT, picture.file), svg);
  process.stdout.write(`${picture.file}: ${svg.length} bytes\n`);
}

await using host = await PrivateHost.start();
const [program, ...args] = host.command(CHECKOUT, './bin/podwright', 'load', 'dist/hello-image.tar');
await runChecked(program!, args);
for (const picture of pictures) await record(picture, host);
