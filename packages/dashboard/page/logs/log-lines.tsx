/** The lines of a log in a scrollable box. Only visible lines are rendered. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { rowWindow } from '../widgets/window-of-rows.ts';
import { piecesOf, plainText } from './ansi.ts';
import type { LogLine } from './log-line.ts';
import type { LogModel } from './log-model.ts';

const LINE_PX = 18;
/** Maximum distance from the end of the log at which the box still follows new lines. */
const AT_END_PX = 30;
/** Maximum number of characters rendered per line. Clicking a longer line shows more of it below the box. */
const MAX_DRAWN = 2000;
/** Maximum number of characters shown below the box. */
const MAX_DETAIL = 200_000;

type LogLinesProps = { model: LogModel; containers: readonly string[]; showsTimes: boolean; isFollowing: boolean };

export function LogLines({ model, containers, showsTimes, isFollowing }: LogLinesProps) {
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const [seen, setSeen] = useState({ topPx: 0, heightPx: 600 });
  const [chosen, setChosen] = useState<LogLine | undefined>();
  const { lines, version, dropped } = model.shown.value;
  useLayoutEffect(() => {
    const element = box.current!;
    if (isFollowing && isAtEnd.current) element.scrollTop = element.scrollHeight;
    setSeen({ topPx: element.scrollTop, heightPx: element.clientHeight });
  }, [version, isFollowing]);
  const onScroll = () => {
    const element = box.current!;
    isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < AT_END_PX;
    setSeen({ topPx: element.scrollTop, heightPx: element.clientHeight });
  };
  const { first, last, beforePx } = rowWindow({ count: lines.length, rowPx: LINE_PX, ...seen });
  return (
    <>
      <div
        ref={box}
        class="log-box"
        role="log"
        aria-label="Log lines"
        aria-live="off"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
        tabIndex={0}
        data-keys
        onScroll={onScroll}
      >
        <div style={{ height: `${lines.length * LINE_PX}px` }}>
          <div class="log-rows" style={{ transform: `translateY(${beforePx}px)` }}>
            {lines.slice(first, last).map((line, index) => (
              <Row
                key={dropped + first + index}
                line={line}
                container={containers.length > 1 ? containers[line.source]! : undefined}
                showsTimes={showsTimes}
                onChoose={setChosen}
              />
            ))}
          </div>
        </div>
      </div>
      {chosen === undefined ? null : <Detail line={chosen} close={() => setChosen(undefined)} />}
    </>
  );
}

type RowProps = { line: LogLine; container?: string; showsTimes: boolean; onChoose(line: LogLine): void };

function Row({ line, container, showsTimes, onChoose }: RowProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/noStaticElementInteractions: the text can be read and selected without it
    <div class="log-row" onClick={() => line.text.length > MAX_DRAWN && onChoose(line)}>
      {container === undefined ? null : <span class={`source source-${line.source % 6}`}>{container} </span>}
      {showsTimes ? <span class="faint">{line.time.slice(0, 23)}Z </span> : null}
      {piecesOf(line.text.slice(0, MAX_DRAWN)).map(({ text, style }, index) =>
        style === '' ? (
          text
        ) : (
          <span key={index} class={style}>
            {text}
          </span>
        ),
      )}
      {line.text.length > MAX_DRAWN ? <span class="faint"> … ({line.text.length} characters)</span> : null}
    </div>
  );
}

function Detail({ line, close }: { line: LogLine; close(): void }) {
  return (
    <div class="log-detail">
      <button type="button" onClick={close}>
        Close
      </button>
      <pre>{plainText(line.text.slice(0, MAX_DETAIL))}</pre>
    </div>
  );
}
