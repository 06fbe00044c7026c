import type { Container, ContainerStatus } from '@podwright/kube-api';
import type { Pod } from '../api/objects.ts';
import { countText } from '../state/text.ts';
import { Ago, Mark, Text, type Tone } from '../widgets/marks.tsx';
import { Panel } from '../widgets/panel.tsx';

/** `note`: `init` or `sidecar` for init containers, otherwise ''. */
type Row = { container: Container; status?: ContainerStatus; note: string };

/** Returns a pod's containers in the order in which they start. */
function rowsOf({ spec, status }: Pod): Row[] {
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const row = (container: Container, note: string): Row => ({
    ...{ container, note },
    status: statuses.find(({ name }) => name === container.name),
  });
  const inits = (spec.initContainers ?? []).map((one) => row(one, one.restartPolicy === 'Always' ? 'sidecar' : 'init'));
  return [...inits, ...spec.containers.map((one) => row(one, ''))];
}

export function ContainersPanel({ pod }: { pod: Pod }) {
  return (
    <Panel title="Containers">
      <ul class="containers">
        {rowsOf(pod).map((row) => (
          <ContainerItem key={row.container.name} row={row} />
        ))}
      </ul>
    </Panel>
  );
}

function ContainerItem({ row: { container, status, note } }: { row: Row }) {
  const { requests = {}, limits = {} } = status?.resources ?? container.resources ?? {};
  const last = status?.lastState?.terminated;
  return (
    <li>
      <div class="trouble-head">
        <strong>{container.name}</strong>
        {note === '' ? null : <span class="tag">{note}</span>}
        <State status={status} />
        {(status?.restartCount ?? 0) > 0 ? (
          <span class="faint">{countText(status!.restartCount, 'restart')}</span>
        ) : null}
      </div>
      <p class="faint mono">
        <Text>{container.image}</Text>
      </p>
      <p class="faint">
        <Text>
          {[amounts('requests', requests), amounts('limits', limits)].filter(Boolean).join(' · ') ||
            'no requests, no limits'}
        </Text>
        {(container.ports ?? []).map(({ containerPort, name, protocol }) => (
          <span key={`${containerPort}/${protocol}`}>
            {' · '}
            <Text>{`port ${containerPort}${name ? ` (${name})` : ''}`}</Text>
          </span>
        ))}
      </p>
      {last === undefined ? null : (
        <p class="faint">
          <Text>{`previous run ended with exit code ${last.exitCode}${last.reason ? ` (${last.reason})` : ''}${last.message ? `: ${last.message}` : ''}`}</Text>
          , <Ago time={last.finishedAt} /> ago
        </p>
      )}
    </li>
  );
}

const amounts = (title: string, list: Record<string, string>): string =>
  Object.keys(list).length === 0
    ? ''
    : `${title} ${Object.entries(list)
        .map(([name, amount]) => `${name} ${amount}`)
        .join(', ')}`;

function State({ status }: { status?: ContainerStatus }) {
  const { running, terminated, waiting } = status?.state ?? {};
  const mark = (tone: Tone, text: string, time?: string) => (
    <>
      <Mark tone={tone}>
        <Text>{text}</Text>
      </Mark>
      {time === undefined ? null : (
        <span class="faint">
          since <Ago time={time} />
        </span>
      )}
    </>
  );
  if (running !== undefined) {
    const [tone, text] = status!.ready
      ? (['good', 'running, ready'] as const)
      : (['warn', 'running, not ready'] as const);
    return mark(tone, text, running.startedAt);
  }
  if (terminated !== undefined) {
    const { exitCode, reason, finishedAt } = terminated;
    return mark(exitCode === 0 ? 'calm' : 'bad', `${reason ?? 'ended'}, exit code ${exitCode}`, finishedAt);
  }
  const reason = waiting?.reason ?? 'waiting';
  const isBad = /Err|BackOff|Invalid/.test(reason);
  return mark(isBad ? 'bad' : 'busy', waiting?.message ? `${reason}: ${waiting.message}` : reason);
}
