/** Arranges the trace spans of a pod's startups as waterfall charts. Pure functions. */
import type { TraceSpan } from '../api/dashboard.ts';

export type Bar = {
  span: TraceSpan;
  /** How deeply the span is nested: its number of ancestors. */
  depth: number;
  /** The left edge and width, as fractions of the chart's width. */
  from: number;
  width: number;
};

export type Chart = { beginMs: number; endMs: number; bars: Bar[] };

/** Spans separated by a longer pause belong to different startups. Each startup has its own chart and time scale. */
const PAUSE_MS = 5000;
/** Minimum width of a bar, to make short spans visible. */
const MIN_SHARE = 0.004;

/** Returns one chart per startup, newest first. */
export function chartsOf(spans: readonly TraceSpan[]): Chart[] {
  const rows = nested(spans.toSorted((a, b) => a.startMs - b.startMs || b.endMs - a.endMs));
  const groups: Row[][] = [];
  let untilMs = Number.NEGATIVE_INFINITY;
  for (const row of rows) {
    if (row.depth === 0 && row.span.startMs - untilMs > PAUSE_MS) groups.push([]);
    groups.at(-1)!.push(row);
    untilMs = Math.max(untilMs, row.span.endMs);
  }
  const charts = groups.map(chartOf).reverse();
  const starts = charts.filter(isStart);
  return starts.length === 0 ? charts.slice(0, 1) : starts;
}

/**
 * Whether the chart shows a startup. During back-off, the kubelet repeats only the first step of a pod sync, so a chart with no other step
 * does not count.
 */
const isStart = ({ bars }: Chart): boolean =>
  bars.length > 1 || bars.some(({ span }) => span.open === true || span.detail !== undefined);

type Row = { span: TraceSpan; depth: number };

function chartOf(rows: Row[]): Chart {
  const beginMs = Math.min(...rows.map(({ span }) => span.startMs));
  const endMs = Math.max(...rows.map(({ span }) => span.endMs));
  const totalMs = Math.max(1, endMs - beginMs);
  const bars = rows.map(({ span, depth }) => {
    const from = Math.min((span.startMs - beginMs) / totalMs, 1 - MIN_SHARE);
    const width = Math.min(Math.max((span.endMs - span.startMs) / totalMs, MIN_SHARE), 1 - from);
    return { span, depth, from, width };
  });
  return { beginMs, endMs, bars };
}

/** Maximum depth of a span. Deeper ones, which only a faulty kubelet would report, are omitted. */
const MAX_DEPTH = 50;

/** Returns each span followed by its children. A span with an unknown parent has depth 0. */
function nested(ordered: TraceSpan[]): Row[] {
  const ids = new Set(ordered.map(({ id }) => id));
  const parts = Map.groupBy(ordered, ({ parentId }) => (ids.has(parentId) ? parentId : undefined));
  const seen = new Set<TraceSpan>();
  const rowsOf = (spans: readonly TraceSpan[], depth: number): Row[] =>
    spans.flatMap((span) => {
      if (seen.has(span) || depth > MAX_DEPTH) return [];
      seen.add(span);
      const own = span.id === undefined ? [] : (parts.get(span.id) ?? []);
      return [{ span, depth }, ...rowsOf(own, depth + 1)];
    });
  return rowsOf(parts.get(undefined) ?? [], 0);
}
