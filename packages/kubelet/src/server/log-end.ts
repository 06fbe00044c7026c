import type { Pod } from '../api/types.ts';
import type { Kubelet } from '../kubelet.ts';

export type FollowedLog = { container: string; path: string; signal: AbortSignal };

/** Who knows where logs are, and of changes of pods. */
type LogKeeper = Pick<Kubelet, 'watch' | 'containerLog'>;

/** Aborts when the container that writes this log has ended or its pod has gone, or the reader has, whose signal is given. */
export function endOfLog(kubelet: LogKeeper, pod: Pod, log: FollowedLog): AbortSignal {
  const ended = new AbortController();
  const changes = kubelet.watch(log.signal);
  const watch = async () => {
    if (writes(kubelet, pod, log)) {
      for await (const change of changes) {
        if (change.pod.metadata.uid !== pod.metadata.uid) continue;
        if (change.type === 'DELETED' || !writes(kubelet, change.pod, log)) break;
      }
    }
    changes.end();
    ended.abort();
  };
  void watch();
  return ended.signal;
}

/** A container that the runtime has no more, as it is when its pod goes, writes nothing. */
function writes(kubelet: LogKeeper, pod: Pod, { container, path }: FollowedLog): boolean {
  try {
    const now = kubelet.containerLog(pod, { container, previous: false });
    return now.running && now.path === path;
  } catch {
    return false;
  }
}
