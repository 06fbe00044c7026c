/** A long list of rows with equal height. Only visible rows are rendered. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type RowWindow, rowWindow } from './window-of-rows.ts';

type VirtualRowsProps = {
  count: number;
  /** The assumed height of a row until one has been measured. */
  rowPx: number;
  /** Renders the rows from `first` up to, but not including, `last`. */
  children(first: number, last: number): ComponentChildren;
};

/**
 * Rows that scroll with the page. Those that are not rendered are replaced by empty space. The row height is measured because rows are
 * taller on narrow screens.
 */
export function VirtualRows({ count, rowPx: guessPx, children }: VirtualRowsProps) {
  const place = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState<RowWindow>(() =>
    rowWindow({ count, rowPx: guessPx, topPx: 0, heightPx: innerHeight }),
  );
  useLayoutEffect(() => {
    const element = place.current!;
    const measure = () => {
      const rowPx = element.querySelector<HTMLElement>('[data-row]')?.offsetHeight || guessPx;
      const topPx = -element.getBoundingClientRect().top;
      const next = rowWindow({ count, rowPx, topPx, heightPx: innerHeight });
      setSeen((before) => (isSame(before, next) ? before : next));
    };
    measure();
    addEventListener('scroll', measure, { passive: true });
    addEventListener('resize', measure);
    return () => {
      removeEventListener('scroll', measure);
      removeEventListener('resize', measure);
    };
  }, [count, guessPx]);
  const last = Math.min(seen.last, count);
  return (
    <div ref={place} role="rowgroup">
      <div style={{ height: `${seen.beforePx}px` }} />
      {children(Math.min(seen.first, last), last)}
      <div style={{ height: `${seen.afterPx}px` }} />
    </div>
  );
}

const isSame = (a: RowWindow, b: RowWindow): boolean =>
  a.first === b.first && a.last === b.last && a.beforePx === b.beforePx && a.afterPx === b.afterPx;
