import { follow } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import type { Kubelet, PodChange } from '@podwright/kubelet';

export type FollowedLog = { container: string; path: string; signal: AbortSignal };

type LogSource = Pick<Kubelet, 'watch' | 'containerLog'>;

/**
 * Returns a signal that aborts when no more lines can follow, because the container that writes the log has exited or its pod has been
 * deleted. It also aborts when the reader's `signal` does.
 */
export function endOfLog(kubelet: LogSource, pod: Pod, log: FollowedLog): AbortSignal {
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

/** Whether the container is still writing to the log file. False if the container runtime has removed the container. */
function writes(kubelet: LogSource, pod: Pod, { container, path }: FollowedLog): boolean {
  try {
    const now = kubelet.containerLog(pod, { container, previous: false });
    return now.running && now.path === path;
  } catch {
    return false;
  }
}
