/** The mount points of a pod's volumes. A button lists their files by running `ls` in the container. */
import { useState } from 'preact/hooks';
import type { Pod } from '../api/objects.ts';
import { messageOf } from '../api/request.ts';
import { plainText } from '../logs/ansi.ts';
import { execIn, useAllowed } from '../state/app.ts';
import { runProgram } from '../terminal/run-program.ts';
import { Text } from '../widgets/marks.tsx';
import { Panel } from '../widgets/panel.tsx';

type Mounted = { container: string; volume: string; path: string; isReadOnly: boolean };

const LIST_TIMEOUT_MS = 15_000;

export function VolumesPanel({ pod }: { pod: Pod }) {
  const canExec = useAllowed(execIn(pod.metadata.namespace)) === true;
  const mounts: Mounted[] = pod.spec.containers.flatMap(({ name, volumeMounts = [] }) =>
    volumeMounts.map((mount) => ({
      ...{ container: name, volume: mount.name, path: mount.mountPath, isReadOnly: mount.readOnly === true },
    })),
  );
  if (mounts.length === 0) return null;
  const running = (pod.status?.containerStatuses ?? []).filter(({ state }) => state?.running !== undefined);
  return (
    <Panel title="Volumes">
      <ul class="volumes">
        {mounts.map((mount) => (
          <Mount
            key={`${mount.container} ${mount.path}`}
            pod={pod}
            mount={mount}
            canList={canExec && running.some(({ name }) => name === mount.container)}
          />
        ))}
      </ul>
    </Panel>
  );
}

function Mount({
  pod,
  mount: { container, volume, path, isReadOnly },
  canList,
}: {
  pod: Pod;
  mount: Mounted;
  canList: boolean;
}) {
  const [listing, setListing] = useState<string | undefined>();
  const list = async () => {
    setListing('Reading …');
    const { namespace, name } = pod.metadata;
    try {
      const target = { namespace, name, container };
      setListing(await runProgram(target, ['ls', '-la', '--', path], AbortSignal.timeout(LIST_TIMEOUT_MS)));
    } catch (error) {
      setListing(`The files cannot be listed: ${messageOf(error)}`);
    }
  };
  return (
    <li>
      <span class="mono">
        <Text>{path}</Text>
      </span>{' '}
      <span class="faint">
        <Text>{`${volume}, in ${container}${isReadOnly ? ', read-only' : ''}`}</Text>
      </span>{' '}
      {canList ? (
        <button type="button" onClick={list} aria-label={`List the files of ${path}`}>
          Files
        </button>
      ) : null}
      {listing === undefined ? null : <pre class="log-end">{listing.split('\n').map(plainText).join('\n')}</pre>}
    </li>
  );
}
