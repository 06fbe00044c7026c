import { isConditionTrue } from '@podwright/kube-api';
/** Causes for running containers that are not ready. */
import { containerOf, containerOfEvent, lastEvent } from './containers.ts';
import type { PodCause } from './finding.ts';
import { probeCommand, probeResult } from './probe-text.ts';

export const readinessProbe: PodCause = (facts) => {
  const { pod, log } = facts;
  const unready = (pod.status?.containerStatuses ?? []).find(
    ({ ready, state }) => !ready && state?.running !== undefined,
  );
  if (unready === undefined) return undefined;
  const { name } = unready;
  const container = containerOf(pod, name);
  const probe = unready.started === false ? container?.startupProbe : container?.readinessProbe;
  if (probe === undefined) return undefined;
  const kind = unready.started === false ? 'startup' : 'readiness';
  const event = facts.events.findLast(
    (one) => one.reason === 'Unhealthy' && containerOfEvent(one) === name && one.message.toLowerCase().startsWith(kind),
  );
  if (event === undefined)
    return {
      cause: 'starting',
      sentence: `container ${name} runs; its ${kind} probe has not succeeded yet`,
      advice: [],
    };
  const port = probe.httpGet?.port ?? probe.tcpSocket?.port ?? probe.grpc?.port;
  const declared = (container?.ports ?? []).map(({ containerPort }) => containerPort);
  const refused = /connection refused/.test(event.message);
  const isOther = typeof port === 'number' && declared.length > 0 && !declared.includes(port);
  const sentence = `the ${kind} probe of container ${name} fails: ${probeResult(event.message, { probe, container })}`;
  const shown = log?.container === name && log.lines.length > 0 ? { log } : {};
  if (refused && isOther)
    return {
      cause: 'wrong-port',
      sentence,
      advice: [
        `The probe connects to port ${port}, and the container declares ${declared.join(', ')}: correct one of them.`,
      ],
      ...shown,
    };
  if (refused)
    return {
      cause: 'wrong-port',
      sentence,
      advice: [
        `Nothing listens on port ${port} of the pod's address: check the port, and that the program listens on all addresses rather than on 127.0.0.1.`,
      ],
      ...shown,
    };
  return {
    cause: `${kind}-probe`,
    sentence,
    advice: [repeated(probeCommand({ pod, name, probe }))],
    ...shown,
  };
};

/** Returns advice to repeat a probe. `command`: a command that does so, if there is one. */
const repeated = (command: string | undefined): string =>
  `Repeat the probe by hand${command === undefined ? '' : `: \`${command}\``}; correct the program, or the probe.`;

/** Recognizes readiness gates that have not been set to True by their controller. */
export const readinessGate: PodCause = ({ pod }) => {
  const gates = (pod.spec as { readinessGates?: { conditionType: string }[] }).readinessGates ?? [];
  const conditions = pod.status?.conditions ?? [];
  const open = gates.find(({ conditionType }) => !isConditionTrue(conditions, conditionType));
  if (open === undefined) return undefined;
  return {
    cause: 'readiness-gate',
    sentence: `its readiness gate ${open.conditionType} is not set to True`,
    advice: ['The controller of the gate must set it: check that this controller runs.'],
  };
};

/** Returns the last warning event of a pod that has not started. Must come last, because it is the least specific cause. */
export const warningEvent: PodCause = (facts) => {
  const event = facts.events.findLast(({ type }) => type === 'Warning');
  if (event === undefined || lastEvent(facts, ['Started']) !== undefined) return undefined;
  return { cause: 'warning', sentence: `${event.reason}: ${event.message.split('\n')[0]}`, advice: [] };
};
