/** Whether a DaemonSet should run on a node (NodeShouldRunDaemonPod in upstream's daemon_controller.go). */
import { type Node, type PodSpec, toleratesTaint, wantsNode } from '@podwright/kube-api';
import { withDaemonTolerations } from './daemon-pod.ts';

export type NodeFit = {
  /** Whether a pod of the DaemonSet should be started on the node. */
  shouldRun: boolean;
  /** Whether a pod that already runs on the node may remain there. */
  mayStay: boolean;
};

export function nodeFit(template: PodSpec, node: Node): NodeFit {
  const never = { shouldRun: false, mayStay: false };
  const { name = '', labels = {} } = node.metadata;
  const { nodeName = '' } = template;
  if ((nodeName !== '' && nodeName !== name) || !wantsNode({ spec: template }, { name, labels })) return never;
  const { tolerations } = withDaemonTolerations(template);
  const untolerated = (node.spec?.taints ?? []).filter((taint) => !toleratesTaint(tolerations, taint));
  const isRepelled = (...effects: string[]) => untolerated.some(({ effect }) => effects.includes(effect));
  return { shouldRun: !isRepelled('NoSchedule', 'NoExecute'), mayStay: !isRepelled('NoExecute') };
}
