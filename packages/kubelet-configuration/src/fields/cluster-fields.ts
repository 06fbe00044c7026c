import { atLeast, each } from './checks.ts';
import { composes, field, inCluster, nothing, sets, setsAll, setsNoOption } from './field.ts';
import { bool, duration, int32, string } from './field-types.ts';
import { taintProblems } from './label-checks.ts';
import { taints } from './taint-type.ts';

/** Fields for the Node object and for requests to the API server. */
export const CLUSTER_FIELDS = {
  registerNode: field(bool, true, {
    flag: 'register-node',
    about: 'register the node with the API server',
    effect: inCluster(sets('node.register')),
  }),
  registerWithTaints: field(taints, [], {
    flag: 'register-with-taints',
    about: 'taints of the node at registration',
    check: each(taintProblems),
    effect: inCluster(sets('node.taints')),
  }),
  providerID: field(string, '', {
    flag: 'provider-id',
    about: "the cloud provider's ID of the node",
    effect: inCluster(sets('node.providerId')),
  }),
  nodeStatusUpdateFrequency: field(duration, 10_000, {
    flag: 'node-status-update-frequency',
    about: 'interval at which the node status is computed',
    check: atLeast(1),
    effect: inCluster(setsAll(sets('node.statusUpdateMs'), composes('node.statusReportMs'))),
  }),
  nodeStatusReportFrequency: field(duration, 300_000, {
    about: 'interval at which an unchanged node status is reported',
    check: atLeast(1),
    effect: inCluster(composes('node.statusReportMs')),
  }),
  nodeLeaseDurationSeconds: field(int32, 40, {
    about: "duration of the node's lease, in seconds",
    check: atLeast(1),
    effect: inCluster(sets('node.leaseDurationSeconds')),
  }),
  nodeStatusMaxImages: field(int32, 50, {
    flag: 'node-status-max-images',
    about: 'maximum number of images in the node status, -1 for no limit',
    check: atLeast(-1),
    effect: inCluster(sets('node.maxImages')),
    keepsZero: true,
  }),
  contentType: field(string, 'application/vnd.kubernetes.protobuf', {
    flag: 'kube-api-content-type',
    about: 'content type of requests to the API server',
    effect: nothing('requests are sent as JSON'),
  }),
  kubeAPIQPS: field(int32, 50, {
    flag: 'kube-api-qps',
    about: 'maximum requests per second to the API server',
    check: atLeast(0),
    effect: inCluster(setsNoOption),
    keepsZero: true,
  }),
  kubeAPIBurst: field(int32, 100, {
    flag: 'kube-api-burst',
    about: 'maximum burst of requests to the API server',
    check: atLeast(0),
    effect: inCluster(setsNoOption),
  }),
  eventRecordQPS: field(int32, 50, {
    flag: 'event-qps',
    about: 'maximum events per second',
    check: atLeast(0),
    effect: inCluster(setsNoOption),
    keepsZero: true,
  }),
  eventBurst: field(int32, 100, {
    flag: 'event-burst',
    about: 'maximum burst of events',
    check: atLeast(0),
    effect: inCluster(setsNoOption),
  }),
};
