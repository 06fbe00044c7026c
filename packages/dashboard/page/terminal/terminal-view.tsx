/** A shell in a container, displayed by xterm.js. This module and xterm.js are loaded when a terminal is first opened. */
import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Pod } from '../api/objects.ts';
import { execIn, useAllowed } from '../state/app.ts';
import { Problem, Waiting } from '../widgets/marks.tsx';
import { binaryFrame, execMessage, inputFrame, resizeFrame } from './exec-frames.ts';
import { type ExecTarget, execSocket } from './run-program.ts';

/** Runs bash if the image has it, and sh otherwise. */
const SHELL = ['sh', '-c', 'command -v bash >/dev/null 2>&1 && exec bash || exec sh'];
const SCROLLBACK_LINES = 5000;

export function TerminalView({ pod }: { pod: Pod }) {
  const canExec = useAllowed(execIn(pod.metadata.namespace));
  const statuses = pod.status?.containerStatuses ?? [];
  const names = pod.spec.containers
    .map((one) => one.name)
    .filter((one) => statuses.some((status) => status.name === one && status.state?.running !== undefined));
  const [container, setContainer] = useState(names[0]);
  const [round, setRound] = useState(0);
  const present = container ?? names[0];
  if (canExec === undefined) return <Waiting what="Checking rights" />;
  if (!canExec) return <Problem what="The user may not run programs in pods (create pods/exec)" />;
  if (present === undefined) return <Problem what="No container of this pod is running" />;
  const { namespace, name } = pod.metadata;
  return (
    <section class="terminal" aria-label={`Terminal in ${name}`}>
      <div class="list-head">
        <select
          aria-label="Container"
          value={present}
          onChange={({ currentTarget }) => setContainer(currentTarget.value)}
        >
          {names.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        <button type="button" onClick={() => setRound(round + 1)}>
          New session
        </button>
        <span class="faint">Ctrl+Shift+Esc leaves the terminal</span>
      </div>
      <Screen key={`${present} ${round}`} target={{ namespace, name, container: present }} />
    </section>
  );
}

function Screen({ target }: { target: ExecTarget }) {
  const element = useRef<HTMLDivElement>(null);
  const [end, setEnd] = useState<string | undefined>();
  useEffect(() => openSession(element.current!, target, setEnd), []);
  return (
    <>
      <div ref={element} class="screen" data-keys />
      <p class="faint" role="status">
        {end}
      </p>
    </>
  );
}

/** Opens a terminal in an element. `onEnd` receives the reason when it ends. Returns a function that closes it. */
function openSession(element: HTMLElement, target: ExecTarget, onEnd: (text: string) => void): () => void {
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const terminal = new Terminal({
    scrollback: SCROLLBACK_LINES,
    fontFamily: colour('--mono'),
    fontSize: 13,
    cursorBlink: true,
    screenReaderMode: false,
    // a click must not open links printed by a program
    linkHandler: { activate: () => undefined },
    theme: { background: '#10151c', foreground: '#e6e9ee' },
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  terminal.open(element);
  const socket = execSocket(target, SHELL, true);
  const send = (frame: Uint8Array<ArrayBuffer>) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(frame);
  };
  let endText: string | undefined;
  socket.addEventListener('open', () => {
    fit.fit();
    send(resizeFrame({ columns: terminal.cols, rows: terminal.rows }));
    terminal.focus();
  });
  socket.addEventListener('message', ({ data }) => {
    const message = execMessage(new Uint8Array(data as ArrayBuffer));
    if (message?.kind === 'output') terminal.write(message.data);
    if (message?.kind === 'end')
      endText = message.message === undefined ? 'The shell has ended.' : `The shell has ended: ${message.message}`;
  });
  socket.addEventListener('close', () => onEnd(endText ?? 'The connection has ended. "New session" opens another.'));
  terminal.onData((text) => send(inputFrame(text)));
  terminal.onBinary((text) => send(binaryFrame(text)));
  terminal.onResize(({ cols, rows }) => send(resizeFrame({ columns: cols, rows })));
  terminal.attachCustomKeyEventHandler((event) => {
    if (!(event.key === 'Escape' && event.ctrlKey && event.shiftKey)) return true;
    terminal.blur();
    document.getElementById('main')?.focus();
    return false;
  });
  const resized = new ResizeObserver(() => fit.fit());
  resized.observe(element);
  return () => {
    resized.disconnect();
    socket.close();
    terminal.dispose();
  };
}
