/** The search box for finding pages, lists and objects by name. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { SECTIONS } from '../api/resources.ts';
import { plainText } from '../logs/ansi.ts';
import { useApp } from '../state/app.ts';
import { listHref, pageHref } from '../state/route.ts';
import { type SearchEntry, search } from '../state/search-rank.ts';
import { countText } from '../state/text.ts';

export function SearchButton() {
  const { isSearchOpen } = useApp();
  return (
    <button type="button" class="search-button" onClick={() => (isSearchOpen.value = true)}>
      <span>Search everything</span> <kbd>/</kbd>
    </button>
  );
}

const PAGE_ENTRIES: SearchEntry[] = [
  { name: 'Overview', id: '' },
  ...SECTIONS.map(({ title, id }) => ({ name: title, id })),
  { name: 'Images', id: 'images' },
  { name: 'Events', id: 'events' },
  { name: 'Custom resources', id: 'custom' },
].map(({ name, id }) => ({ name, kind: 'page', namespace: '', href: id === '' ? '#/' : pageHref(id) }));

/** Returns all search entries, and starts reading the names of objects. */
function useEntries(): readonly SearchEntry[] {
  const app = useApp();
  const { entries, resources } = app;
  useEffect(() => {
    const abort = new AbortController();
    const searched = { resources: resources.peek(), namespaces: app.searchedNamespaces };
    void entries.refresh(searched, abort.signal);
    return () => abort.abort();
  }, []);
  const [found, kinds] = [entries.entries.value, resources.value];
  return useMemo(() => {
    const lists = kinds.map((resource) => ({
      ...{ name: resource.plural, kind: 'list', namespace: resource.group, href: listHref(resource) },
    }));
    return [...PAGE_ENTRIES, ...lists, ...found];
  }, [found, kinds]);
}

export function SearchDialog() {
  const app = useApp();
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const entries = useEntries();
  const hits = useMemo(() => search(text, entries), [text, entries]);
  // not useEffect, which runs after the next paint: keys that the user presses before would not reach the field
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const present = Math.min(chosen, hits.length - 1);
  const move = (by: number) => setChosen((present + by + hits.length) % Math.max(1, hits.length));
  const close = () => (app.isSearchOpen.value = false);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') move(1);
    else if (event.key === 'ArrowUp') move(-1);
    else if (event.key === 'Enter' && hits[present] !== undefined) {
      location.hash = hits[present].entry.href;
      close();
    } else return;
    event.preventDefault();
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click outside of the dialog closes it, as Esc does
    <dialog
      ref={dialog}
      class="search"
      aria-label="Search"
      onClose={close}
      onClick={(event) => event.target === dialog.current && close()}
    >
      <input
        type="text"
        role="combobox"
        aria-expanded={hits.length > 0}
        aria-controls="search-hits"
        aria-autocomplete="list"
        aria-activedescendant={hits.length > 0 ? `hit-${present}` : undefined}
        aria-label="Name, kind or namespace"
        placeholder="Name, kind or namespace"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id="search-hits" role="listbox" aria-label="Results">
        {hits.map(({ entry }, index) => (
          <Hit key={entry.href} entry={entry} id={`hit-${index}`} isChosen={index === present} onClick={close} />
        ))}
      </div>
      <p class="faint" role="status">
        {app.entries.isReading.value ? 'Reading names …' : statusOf(text, hits.length, entries.length)}
      </p>
    </dialog>
  );
}

function statusOf(text: string, hitCount: number, entryCount: number): string {
  if (text === '') return countText(entryCount, 'name');
  return hitCount === 0 ? 'Nothing found' : '↑ ↓ to choose, Enter to open, Esc to close';
}

type HitProps = { entry: SearchEntry; id: string; isChosen: boolean; onClick(): void };

function Hit({ entry: { name, kind, namespace, href }, id, isChosen, onClick }: HitProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isChosen) place.current?.scrollIntoView({ block: 'nearest' });
  }, [isChosen]);
  return (
    <div ref={place} id={id} role="option" aria-selected={isChosen}>
      <a href={href} tabIndex={-1} onClick={onClick}>
        <span>{plainText(name)}</span>
        <span class="faint">{kind}</span>
        <span class="faint">{namespace}</span>
      </a>
    </div>
  );
}
