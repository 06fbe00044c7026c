import { plainText } from '../logs/ansi.ts';
import { diffLines, hunks } from './line-diff.ts';

const SIGNS = { same: ' ', removed: '-', added: '+' } as const;
const NAMES = { same: '', removed: 'removed: ', added: 'added: ' } as const;

/** The differences between two texts, with a few unchanged lines around each. */
export function DiffView({ before, after, label }: { before: string; after: string; label: string }) {
  const parts = hunks(diffLines(before, after));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <div class="diff" role="region" aria-label={label} tabIndex={0}>
      {parts.map((part, index) =>
        part.kind === 'skipped' ? (
          <span key={index} class="faint diff-line">{`  … ${part.count} unchanged lines\n`}</span>
        ) : (
          <span key={index} class={`diff-line ${part.kind}`}>
            <span aria-hidden="true">{SIGNS[part.kind]} </span>
            <span class="visually-hidden">{NAMES[part.kind]}</span>
            {`${plainText(part.text)}\n`}
          </span>
        ),
      )}
    </div>
  );
}
