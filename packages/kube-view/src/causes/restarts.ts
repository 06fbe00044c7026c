/** Containers that run at the moment, but exceeded their memory limit or ended repeatedly a short time ago. Pure. */
import { counted } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import { type ContainerEnd, containerOf, containerOfEvent, containerStatusesOf, lastEvent } from './containers.ts';
import { causeOfEnd, isOf, memoryAdvice } from './exit.ts';
import type { Finding, PodFacts } from './finding.ts';
import { probeResult } from './probe-text.ts';

/** How long an OOM kill counts as recent. A program that leaks memory runs well for a while after each kill. */
const RECENT_KILL_MS = 60 * 60_000;
/** How long any other end counts as recent: twice the longest delay of CrashLoopBackOff. */
const RECENT_END_MS = 10 * 60_000;
/** Number of restarts from which ends other than OOM kills are reported. A single one may be due to a dependency that started later. */
const MIN_RESTARTS = 2;

const MINUTE_MS = 60_000;

/** Returns the last end of a running container that restarts repeatedly, OOM kills first; undefined if there is none. */
export function recentEnd(pod: Pod, now: number): ContainerEnd | undefined {
  const ends = containerStatusesOf(pod).flatMap((status): ContainerEnd[] => {
    const end = status.lastState?.terminated;
    return end !== undefined && status.state?.running !== undefined && isRecent({ status, end }, now)
      ? [{ status, end }]
      : [];
  });
  return ends.sort((a, b) => Number(isKill(b)) - Number(isKill(a)) || b.status.restartCount - a.status.restartCount)[0];
}

const isKill = ({ end }: ContainerEnd): boolean => end.reason === 'OOMKilled';

function isRecent(ended: ContainerEnd, now: number): boolean {
  const ageMs = now - Date.parse(ended.end.finishedAt ?? '');
  return isKill(ended) ? ageMs < RECENT_KILL_MS : ageMs < RECENT_END_MS && ended.status.restartCount >= MIN_RESTARTS;
}

/** Explains why a pod that is ready needs attention: one of its containers keeps restarting. Returns undefined if none does. */
export function explainRestarts(facts: Pick<PodFacts, 'pod' | 'events' | 'log' | 'now'>): Finding | undefined {
  const { pod, log, now } = facts;
  const ended = recentEnd(pod, now);
  if (ended === undefined) return undefined;
  const { name, restartCount } = ended.status;
  const sinceMs = Date.parse(pod.status?.startTime ?? pod.metadata.creationTimestamp ?? '');
  const span = Number.isNaN(sinceMs) ? '' : ` in ${spanText(now - sinceMs)}`;
  const { cause, how, advice } = lastEnd(facts, ended);
  return {
    cause,
    sentence: `container ${name} runs, but restarted ${counted(restartCount, 'time')}${span}, last: ${how}`,
    advice,
    ...(isOf(log, name) && { log }),
  };
}

type LastEnd = Pick<Finding, 'cause' | 'advice'> & { how: string };

function lastEnd(facts: Pick<PodFacts, 'pod' | 'events' | 'log'>, { status, end }: ContainerEnd): LastEnd {
  const { name } = status;
  if (end.reason === 'OOMKilled') {
    const limit = containerOf(facts.pod, name)?.resources?.limits?.memory;
    const at = limit === undefined ? '' : ` at its limit of ${limit}`;
    return { cause: 'out-of-memory', how: `OOMKilled${at}`, advice: memoryAdvice(limit) };
  }
  const killed = lastEvent(facts, ['Killing'], /failed (liveness|startup) probe/);
  const failed = lastEvent(facts, ['Unhealthy'], /^(Liveness|Startup) probe/);
  if (killed !== undefined && failed !== undefined && [killed, failed].every((one) => containerOfEvent(one) === name)) {
    const kind = failed.message.startsWith('Startup') ? 'startup' : 'liveness';
    const container = containerOf(facts.pod, name);
    const probe = kind === 'startup' ? container?.startupProbe : container?.livenessProbe;
    return {
      cause: `${kind}-probe`,
      how: `its ${kind} probe failed: ${probeResult(failed.message, { probe, container })}`,
      advice: [`Correct the program or the ${kind} probe, or raise the failureThreshold of the probe.`],
    };
  }
  const known = causeOfEnd(facts.log, { name, end });
  return { cause: known.cause, how: `${endText(end)}: ${known.sentence}`, advice: known.advice };
}

const endText = ({ signal, exitCode }: ContainerEnd['end']): string =>
  signal ? `killed by signal ${signal}` : `exit code ${exitCode}`;

function spanText(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / MINUTE_MS));
  if (minutes < 120) return counted(minutes, 'minute');
  const hours = Math.round(minutes / 60);
  return hours < 48 ? counted(hours, 'hour') : counted(Math.round(hours / 24), 'day');
}
