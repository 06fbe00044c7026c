/** A line of values over time, drawn by uPlot, which is loaded with the first graph. */
import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';

export type Line = { name: string; values: readonly (number | null)[] };

type GraphProps = {
  /** Read out in place of the picture. */
  label: string;
  /** Unix seconds. */
  times: readonly number[];
  lines: readonly Line[];
  /** The top of the scale; by default the largest value. */
  max?: number;
  text(value: number): string;
  height?: number;
};

const COLOURS = ['--graph-1', '--graph-2'];
const HOUR_S = 3600;
const LEAST_S = 600;
/** Narrower graphs have no scale: the number above says enough. */
const NARROW_PX = 170;

export function Graph(props: GraphProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const names = props.lines.map(({ name }) => name).join('|');
  useEffect(() => {
    let isOver = false;
    const ends: (() => void)[] = [];
    const begin = ({ default: Plot }: { default: typeof uPlot }) => {
      const element = place.current;
      if (isOver || element === null) return;
      const draw = () => {
        plot.current?.destroy();
        plot.current = new Plot(optionsOf(latest, element), dataOf(latest.current), element);
      };
      draw();
      const resized = new ResizeObserver(() => plot.current?.setSize(sizeOf(element, latest.current)));
      resized.observe(element);
      const scheme = matchMedia('(prefers-color-scheme: dark)');
      scheme.addEventListener('change', draw);
      ends.push(
        () => resized.disconnect(),
        () => scheme.removeEventListener('change', draw),
      );
    };
    // without the library, the number above the graph remains
    import('uplot').then(begin, () => undefined);
    return () => {
      isOver = true;
      for (const end of ends) end();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [names]);
  useEffect(() => plot.current?.setData(dataOf(props)), [props.times, props.lines]);
  return (
    <div ref={place} class="graph" role="img" aria-label={props.label} style={{ height: `${props.height ?? 96}px` }} />
  );
}

const dataOf = ({ times, lines }: GraphProps): uPlot.AlignedData =>
  [times, ...lines.map(({ values }) => values)] as unknown as uPlot.AlignedData;

const sizeOf = (element: HTMLElement, { height = 96 }: GraphProps) => ({
  width: Math.max(80, element.clientWidth),
  height,
});

function optionsOf(latest: { current: GraphProps }, element: HTMLElement): uPlot.Options {
  const axis = {
    stroke: colourOf(element, '--faint'),
    grid: { stroke: colourOf(element, '--line'), width: 1 },
    ticks: { show: false },
    font: `11px ${getComputedStyle(element).fontFamily}`,
  };
  const isNarrow = element.clientWidth < NARROW_PX;
  const { lines, text } = latest.current;
  return {
    ...sizeOf(element, latest.current),
    legend: { show: false },
    cursor: { show: false },
    padding: [6, 4, 0, 0],
    scales: {
      x: { time: true, range: () => scaleOf(latest.current) },
      y: { range: (_plot, _min, max) => [0, topOf(latest.current, max)] },
    },
    series: [
      {},
      ...lines.map((_line, index) => ({
        stroke: colourOf(element, COLOURS[index] ?? COLOURS[0]!),
        // the second line differs without its colour
        dash: index === 0 ? undefined : [4, 3],
        width: 1.5,
        fill: index === 0 && lines.length === 1 ? colourOf(element, '--graph-fill') : undefined,
        points: { show: false },
        spanGaps: false,
      })),
    ],
    axes: [
      { ...axis, size: 20, space: 60, values: '{HH}:{mm}' },
      {
        ...axis,
        show: !isNarrow,
        size: 56,
        splits: (...[, , , max]) => [0, max / 2, max],
        values: (_plot, values) => values.map((value) => text(value)),
      },
    ],
  };
}

/** The top of the scale. */
const topOf = ({ max }: GraphProps, largest: number): number => max ?? (largest > 0 ? largest * 1.1 : 1);

/** The present value of a colour of the style sheet, as a canvas reads it. */
function colourOf(element: HTMLElement, name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** From the first time, which is an hour ago at most and ten minutes at least. */
function scaleOf({ times }: GraphProps): [number, number] {
  const end = times.at(-1) ?? Date.now() / 1000;
  const first = Math.min(times[0] ?? end, end - LEAST_S);
  return [Math.max(first, end - HOUR_S), end];
}
