import type { ApiObject } from '../api-port.ts';
import type { Workload } from '../workload.ts';

/** Returns the Job that a CronJob would start now, as created by `kubectl create job --from`. */
export function jobOfCronJob(name: string, { metadata, spec }: Workload): Workload {
  const { metadata: template = {}, spec: jobSpec = {} } = spec.jobTemplate ?? {};
  const owner = {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    name: metadata.name,
    uid: metadata.uid ?? '',
    controller: true,
  };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name,
      namespace: metadata.namespace,
      ...(template.labels && { labels: template.labels }),
      annotations: { 'cronjob.kubernetes.io/instantiate': 'manual', ...template.annotations },
      ownerReferences: [owner],
    },
    spec: jobSpec,
  };
}

/** Returns a Job whose pod has one container. */
export function jobOfImage(
  name: string,
  { namespace, image, command }: { namespace: string; image: string; command: string[] },
): ApiObject {
  const container = { name, image, ...(command.length > 0 && { command }) };
  const template = { spec: { containers: [container], restartPolicy: 'Never' } };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name, namespace }, spec: { template } };
}
