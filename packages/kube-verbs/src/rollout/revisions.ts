import type { LabelSelector } from '@podwright/kube-api';
import type { ApiObject, ApiPort } from '../api-port.ts';
import { kindText, refused, type Target } from '../target.ts';
import { selectorText } from '../text/selector-text.ts';
import { type PodTemplate, REVISION, type Workload } from '../workload.ts';

const CHANGE_CAUSE = 'kubernetes.io/change-cause';
export const TEMPLATE_HASH = 'pod-template-hash';

/** A revision of a workload. For kinds that use ControllerRevisions, `patch` makes this revision the current one. */
export type Revision = {
  number: number;
  changeCause: string;
  template: PodTemplate;
  annotations: Record<string, string>;
  patch?: object;
};

type ControllerRevision = ApiObject & { revision: number; data?: { spec?: { template?: PodTemplate } } };

/** Reads the revisions of a workload, oldest first. Throws if its kind has none. */
export async function readRevisions(api: ApiPort, target: Target): Promise<Revision[]> {
  const { kind, object } = target;
  const isSet = kind.kind === 'DaemonSet' || kind.kind === 'StatefulSet';
  if (kind.group !== 'apps' || (kind.kind !== 'Deployment' && !isSet))
    throw refused(`no history viewer has been implemented for "${kindText(target)}"`);
  const { namespace = '', uid } = object.metadata;
  const path = `/apis/apps/v1/namespaces/${encodeURIComponent(namespace)}/${isSet ? 'controllerrevisions' : 'replicasets'}`;
  const labelSelector = selectorText((object as Workload).spec.selector as LabelSelector | undefined);
  const { items } = (await api.call({ method: 'GET', path, query: { labelSelector } })) as { items: ApiObject[] };
  const own = items.filter(({ metadata }) =>
    metadata.ownerReferences?.some((owner) => owner.controller === true && owner.uid === uid),
  );
  const revisions = own.map((one) =>
    isSet ? ofControllerRevision(one as ControllerRevision) : ofReplicaSet(one as Workload),
  );
  return revisions.toSorted((a, b) => a.number - b.number);
}

function ofReplicaSet({ metadata, spec }: Workload): Revision {
  const { annotations = {} } = metadata;
  const number = Number(annotations[REVISION] ?? 0);
  return { number, changeCause: annotations[CHANGE_CAUSE] ?? '', template: spec.template ?? NO_TEMPLATE, annotations };
}

const NO_TEMPLATE: PodTemplate = { spec: { containers: [] } };

function ofControllerRevision({ metadata, revision, data }: ControllerRevision): Revision {
  const { annotations = {} } = metadata;
  return {
    number: revision,
    changeCause: annotations[CHANGE_CAUSE] ?? '',
    template: data?.spec?.template ?? NO_TEMPLATE,
    annotations,
    patch: data,
  };
}
