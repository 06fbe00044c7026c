/** Maps fields of a KubeletConfiguration and flags to the options of the node object. */
import type { KubeletOptions } from '@podwright/kubelet';
import { type FieldSetters, type WantedFields, withFields } from './configured-fields.ts';
import { hardThresholds } from './hard-thresholds.ts';

type NodeSettings = KubeletOptions['node'];

const SETTERS: FieldSetters<NodeSettings> = {
  registerNode: (_, { registerNode: register }) => ({ register }),
  registerWithTaints: (_, { registerWithTaints: taints }) => ({ taints }),
  providerID: (_, { providerID: providerId }) => ({ providerId }),
  cloudProvider: (_, { cloudProvider }) => ({ externalCloudProvider: cloudProvider === 'external' }),
  enableControllerAttachDetach: (_, configuration) => ({
    controllerAttachDetach: configuration.enableControllerAttachDetach,
  }),
  // the report frequency defaults to the update frequency
  nodeStatusUpdateFrequency: (_, configuration) => ({
    statusUpdateMs: configuration.nodeStatusUpdateFrequency,
    statusReportMs: configuration.nodeStatusReportFrequency,
  }),
  nodeStatusReportFrequency: (_, { nodeStatusReportFrequency: statusReportMs }) => ({ statusReportMs }),
  nodeLeaseDurationSeconds: (_, { nodeLeaseDurationSeconds: leaseDurationSeconds }) => ({ leaseDurationSeconds }),
  evictionHard: (_, configuration) => ({ evictionHard: hardThresholds(configuration) }),
  mergeDefaultEvictionSettings: (_, configuration) => ({ evictionHard: hardThresholds(configuration) }),
  ignoreEvictionThreshold: (_, { ignoreEvictionThreshold: ignored }) => (ignored ? { evictionHard: {} } : {}),
  nodeStatusMaxImages: (_, { nodeStatusMaxImages: maxImages }) => ({ maxImages }),
};

/** Applies the fields to the settings. */
export function configuredNode(node: NodeSettings, fields: WantedFields): NodeSettings {
  return withFields(node, SETTERS, fields);
}
