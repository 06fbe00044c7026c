/** Keyboard shortcuts available on all pages. They are listed in help-dialog.tsx. */
import type { App } from './app.ts';

/** Links by the key that follows `g`. */
const PLACES: Record<string, string> = { o: '#/', w: '#/workloads', s: '#/services', e: '#/events', i: '#/images' };
/** How soon the second key must follow `g`, in milliseconds. */
const SECOND_KEY_MS = 1500;

/** Handles key presses until the signal aborts. */
export function listenForKeys(app: App, signal: AbortSignal): void {
  let goUntilMs = 0;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (isTyping(event.target)) {
      if (event.key === 'Escape' && event.target instanceof HTMLInputElement) event.target.blur();
      return;
    }
    if (document.querySelector('dialog[open]') !== null) return;
    const place = Date.now() < goUntilMs ? PLACES[event.key] : undefined;
    goUntilMs = event.key === 'g' ? Date.now() + SECOND_KEY_MS : 0;
    if (place !== undefined) location.hash = place;
    else if (event.key === '/') app.isSearchOpen.value = true;
    else if (event.key === '?') app.isHelpOpen.value = true;
    else if (event.key === 'j' || event.key === 'ArrowDown') {
      if (!moveRow(1)) return;
    } else if (event.key === 'k' || event.key === 'ArrowUp') {
      if (!moveRow(-1)) return;
    } else return;
    event.preventDefault();
  };
  addEventListener('keydown', onKeyDown, { signal });
}

/** Whether the target handles keys itself, being a form field, or a terminal or editor (`data-keys`). */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.closest('input, textarea, select, [data-keys]') !== null;
}

/** Focuses the link in the next or previous row. Returns false if the page has no rows. */
function moveRow(by: 1 | -1): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>('main [data-row]')].filter((row) => linkOf(row) !== null);
  if (rows.length === 0) return false;
  const present = rows.findIndex((row) => row.contains(document.activeElement));
  const next = present < 0 ? (by > 0 ? 0 : rows.length - 1) : present + by;
  const row = rows[next];
  if (row === undefined) return true;
  linkOf(row)?.focus({ preventScroll: true });
  row.scrollIntoView({ block: 'nearest' });
  return true;
}

const linkOf = (row: HTMLElement): HTMLElement | null => row.querySelector<HTMLElement>('a[href], button');
