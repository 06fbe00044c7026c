/** Namespace-dependent rules for ResourceClaims and their templates (upstream, registry/resource). */
import {
  type ApiObject,
  booleanAt,
  type FieldError,
  forbiddenField,
  objectsAt,
  STRATEGIES,
  type Strategies,
  textAt,
} from '@podwright/kube-kinds';
import type { ObjectStore } from '../store/object-store.ts';

/** Label on namespaces whose claims may have admin access to devices, even those in use. */
const ADMIN_ACCESS = 'resource.kubernetes.io/admin-access';

const CLAIMS = 'resourceclaims.resource.k8s.io';
const TEMPLATES = 'resourceclaimtemplates.resource.k8s.io';

const REQUESTS = ['devices', 'requests'];
const RESULTS = ['status', 'allocation', 'devices', 'results'];

/** Returns the strategies for claims and their templates. Specs are immutable, so they are only checked on creation. */
export function claimStrategies(store: Pick<ObjectStore, 'get'>): Strategies {
  const [claims, templates] = [STRATEGIES[CLAIMS]!, STRATEGIES[TEMPLATES]!];
  const { status } = claims.subresources!;
  const specErrors = (object: ApiObject, ...path: string[]) => {
    const index = objectsAt(object, ...path, ...REQUESTS).findIndex((one) => booleanAt(one, 'exactly', 'adminAccess'));
    return index === -1 ? [] : adminAccessErrors(store, object, `spec.devices.requests[${index}].adminAccess`);
  };
  const statusErrors = (object: ApiObject, old: ApiObject) => {
    const index = adminResult(object);
    if (index === -1 || adminResult(old) !== -1) return [];
    return adminAccessErrors(store, object, `${RESULTS.join('.')}[${index}].adminAccess`);
  };
  return {
    [CLAIMS]: {
      ...claims,
      validate: (object) => [...specErrors(object, 'spec'), ...claims.validate!(object)],
      subresources: {
        ...claims.subresources,
        status: {
          ...status!,
          validateUpdate: (object, old) => [...statusErrors(object, old), ...status!.validateUpdate!(object, old)],
        },
      },
    },
    [TEMPLATES]: {
      ...templates,
      validate: (object) => [...specErrors(object, 'spec', 'spec'), ...templates.validate!(object)],
    },
  };
}

const adminResult = (object: ApiObject): number =>
  objectsAt(object, ...RESULTS).findIndex((one) => booleanAt(one, 'adminAccess'));

function adminAccessErrors(store: Pick<ObjectStore, 'get'>, { metadata }: ApiObject, path: string): FieldError[] {
  const { namespace: name = '' } = metadata;
  const namespace = store.get({ resource: 'namespaces', namespace: '', name })?.decode();
  if (textAt(namespace, 'metadata', 'labels', ADMIN_ACCESS) === 'true') return [];
  const detail = `admin access to devices requires the \`${ADMIN_ACCESS}: true\` label on the containing namespace`;
  return [forbiddenField(path, detail)];
}
