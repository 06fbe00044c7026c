/** The history of a pod, based on its object and events. Pure functions. */
import { type EventObject, eventContainer, eventCount, eventTimeMs, type Pod } from '../api/objects.ts';

export type Moment = {
  /** When the entry happened, in Unix milliseconds. */
  timeMs: number;
  text: string;
  isWarning: boolean;
  /** How many times the event occurred. `timeMs` is the time of the last one. */
  count: number;
};

/** Pod conditions to show when they become True, with the text to show. */
const CONDITIONS: Record<string, string> = {
  PodScheduled: 'assigned to its node',
  PodReadyToStartContainers: 'sandbox and network ready',
  Initialized: 'init containers completed',
  Ready: 'ready',
};

/** Returns the history of a pod, oldest first. */
export function timelineOf(pod: Pod, events: readonly EventObject[]): Moment[] {
  const moments = [...lifeOf(pod), ...containersOf(pod), ...events.map(ofEvent)];
  return moments.filter(({ timeMs }) => timeMs > 0).sort((a, b) => a.timeMs - b.timeMs);
}

const moment = (time: string | null | undefined, text: string, isWarning = false): Moment => ({
  timeMs: time ? Date.parse(time) || 0 : 0,
  ...{ text, isWarning, count: 1 },
});

function lifeOf({ metadata, status }: Pod): Moment[] {
  const conditions = (status?.conditions ?? []).flatMap(({ type, status: is, lastTransitionTime, reason }) => {
    if (is === 'True' && CONDITIONS[type] !== undefined) return [moment(lastTransitionTime, CONDITIONS[type])];
    if (type === 'Ready' && is === 'False' && status?.phase === 'Running')
      return [moment(lastTransitionTime, `not ready${reason === undefined ? '' : ` (${reason})`}`, true)];
    return type === 'PodResizePending' || type === 'PodResizeInProgress'
      ? [
          moment(
            lastTransitionTime,
            `resize ${type === 'PodResizePending' ? 'pending' : 'in progress'}${reason ? ` (${reason})` : ''}`,
          ),
        ]
      : [];
  });
  const deleted =
    metadata.deletionTimestamp === undefined ? [] : [moment(metadata.deletionTimestamp, 'deadline of its deletion')];
  return [moment(metadata.creationTimestamp, 'created'), ...conditions, ...deleted];
}

function containersOf({ status }: Pod): Moment[] {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return all.flatMap(({ name, state = {}, lastState = {}, restartCount }) => {
    const starts = restartCount === 0 ? 'started' : `started again (restart ${restartCount})`;
    const running = state.running === undefined ? [] : [moment(state.running.startedAt, `${name} ${starts}`)];
    const ends = [lastState.terminated, state.terminated].flatMap((end) =>
      end === undefined ? [] : [endOf(name, end)],
    );
    return [...running, ...ends];
  });
}

type End = { exitCode: number; reason?: string; finishedAt?: string };

function endOf(name: string, { exitCode, reason, finishedAt }: End): Moment {
  const how = reason === 'OOMKilled' ? 'was killed: out of memory' : `ended with exit code ${exitCode}`;
  return moment(finishedAt, `${name} ${how}`, exitCode !== 0);
}

const ofEvent = (event: EventObject): Moment => ({
  timeMs: eventTimeMs(event),
  text: `${[event.reason, eventContainer(event)].filter(Boolean).join(' ')}: ${event.message ?? ''}`,
  isWarning: event.type === 'Warning',
  count: eventCount(event),
});

/** Probe failures with the same message, from a single event. The API only records the first time, the last time and the count. */
export type ProbeMark = {
  probe: string;
  container: string;
  lastMs: number;
  firstMs: number;
  count: number;
  message: string;
};

/** Returns the probe failures reported by the events. */
export function probeFailures(events: readonly EventObject[]): ProbeMark[] {
  return events.flatMap((event) => {
    if (event.reason !== 'Unhealthy') return [];
    const [, probe = 'Probe'] = /^(\w+) probe/.exec(event.message ?? '') ?? [];
    const container = eventContainer(event) ?? '';
    const firstMs = event.firstTimestamp ? Date.parse(event.firstTimestamp) : eventTimeMs(event);
    const message = event.message ?? '';
    return [{ probe, container, firstMs, lastMs: eventTimeMs(event), count: eventCount(event), message }];
  });
}
