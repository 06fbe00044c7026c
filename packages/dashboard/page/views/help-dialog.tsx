import { useEffect, useRef } from 'preact/hooks';
import { useApp } from '../state/app.ts';

const KEYS = [
  ['/', 'search everything'],
  ['j or ↓', 'next row'],
  ['k or ↑', 'previous row'],
  ['Enter', 'open the row'],
  ['Esc', 'close, or leave a field'],
  ['g o', 'overview'],
  ['g w', 'workloads'],
  ['g s', 'services'],
  ['g i', 'images'],
  ['g e', 'events'],
  ['?', 'this help'],
] as const;

export function HelpDialog() {
  const { isHelpOpen } = useApp();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={() => (isHelpOpen.value = false)}>
      <h2 id="help-title">Keys</h2>
      <dl class="keys">
        {KEYS.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  );
}
