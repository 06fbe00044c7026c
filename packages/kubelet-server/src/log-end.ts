import { follow } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import type { Kubelet, PodChange } from '@podwright/kubelet';

export type FollowedLog = { container: string; path: string; signal: AbortSignal };

/** Who knows where logs are, and of changes of pods. */
type LogKeeper = Pick<Kubelet, 'watch' | 'containerLog'>;

/** Aborts when the container that writes this log has ended or its pod has gone, or the reader has, whose signal is given. */
export function endOfLog(kubelet: LogKeeper, pod: Pod, log: FollowedLog): AbortSignal {
  const ended = new AbortController();
  const look = (now = pod) => {
    if (!writes(kubelet, now, log)) ended.abort();
  };
  const onValue = ({ type, pod: now }: PodChange) => {
    if (now.metadata.uid !== pod.metadata.uid) return;
    if (type === 'DELETED') ended.abort();
    else look(now);
  };
  const following = follow(
    { subscribe: (signal) => kubelet.watch(signal), onValue, onOverflow: look },
    AbortSignal.any([log.signal, ended.signal]),
  );
  const end = () => ended.abort();
  void following.then(end, end);
  look();
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
