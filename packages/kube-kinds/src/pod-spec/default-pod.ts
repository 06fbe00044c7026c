/** Defaults of pods and pod templates (SetDefaults_Pod, SetDefaults_PodSpec). */
import { completePodResources, type PodSpec } from '@podwright/kube-api';
import { type JsonObject, numberAt, objectAt, objectsAt, textAt, valueAt, withItems } from '../values.ts';
import { defaultAmounts, defaultContainer, defaultResources, withDefaults } from './default-container.ts';
import { defaultVolume } from './default-volume.ts';

const GRACE_SECONDS = 30;
const CONTAINERS = ['initContainers', 'containers', 'ephemeralContainers'];

/** Returns the spec with the defaults common to pods and templates. */
export function defaultPodSpec(spec: JsonObject): JsonObject {
  let complete = withDefaults(spec, {
    dnsPolicy: 'ClusterFirst',
    restartPolicy: 'Always',
    securityContext: {},
    terminationGracePeriodSeconds: GRACE_SECONDS,
    schedulerName: 'default-scheduler',
  });
  complete = withItems(complete, ['volumes'], defaultVolume);
  for (const list of CONTAINERS) complete = withItems(complete, [list], defaultContainer);
  complete = defaultAmounts(complete, ['overhead']);
  return withServiceAccount(defaultResources(complete, ['resources']));
}

/** Copies `serviceAccountName` to the deprecated field `serviceAccount`. */
function withServiceAccount(spec: JsonObject): JsonObject {
  const name = textAt(spec, 'serviceAccountName') || textAt(spec, 'serviceAccount');
  return name === '' ? spec : { ...spec, serviceAccountName: name, serviceAccount: name };
}

/** Returns the template with its spec's defaults set. */
export const defaultPodTemplate = (template: JsonObject): JsonObject => ({
  ...template,
  spec: defaultPodSpec(objectAt(template, 'spec') ?? {}),
});

/** Returns a pod's spec with all defaults, including those that do not apply to templates. */
export function defaultSpecOfPod(spec: JsonObject): JsonObject {
  let complete = spec;
  for (const list of ['initContainers', 'containers']) complete = withItems(complete, [list], requestLimits);
  complete = withItems({ enableServiceLinks: true, ...complete }, ['containers'], (container) =>
    hostPorts(container, spec),
  );
  complete = withItems(complete, ['initContainers'], (container) => hostPorts(container, spec));
  complete = defaultPodSpec(complete);
  complete = withPodResources(complete);
  const seconds = numberAt(complete, 'terminationGracePeriodSeconds') ?? 0;
  return seconds < 0 ? { ...complete, terminationGracePeriodSeconds: 1 } : complete;
}

/** Sets each missing request to the resource's limit. */
function requestLimits(container: JsonObject): JsonObject {
  const limits = objectAt(container, 'resources', 'limits');
  if (limits === undefined) return container;
  const requests = { ...limits, ...objectAt(container, 'resources', 'requests') };
  return { ...container, resources: { ...objectAt(container, 'resources'), requests } };
}

/** If the pod uses host networking, sets each missing host port to the container port. */
function hostPorts(container: JsonObject, spec: JsonObject): JsonObject {
  if (valueAt(spec, 'hostNetwork') !== true) return container;
  return withItems(container, ['ports'], (port) =>
    (numberAt(port, 'hostPort') ?? 0) === 0 ? { ...port, hostPort: port.containerPort } : port,
  );
}

function withPodResources(spec: JsonObject): JsonObject {
  if (objectAt(spec, 'resources') === undefined) return spec;
  const containers = objectsAt(spec, 'containers');
  const resources = completePodResources({ ...spec, containers } as unknown as PodSpec);
  return resources === undefined ? spec : { ...spec, resources };
}
