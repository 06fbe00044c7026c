/** Validates StatefulSet specs (ValidateStatefulSetSpec). */
import type { Field } from '../field.ts';
import { validateLabels } from '../labels.ts';
import { dns1123LabelProblems } from '../names.ts';
import { validateClaimSpec } from '../pod-spec/claim-spec.ts';
import type { PodOptions } from '../pod-spec/options.ts';
import { validateAnnotations, validatePodAnnotations } from '../pod-spec/pod-annotations.ts';
import { validatePodTemplate } from '../pod-spec/pod-spec.ts';
import { isUsableSelector, shownSelector } from '../selectors.ts';
import { type JsonObject, numberAt, objectAt, objectsAt, textAt, valueAt } from '../values.ts';
import { validateStatefulStrategy } from './stateful-set-strategy.ts';
import {
  validateCount,
  validateEndlessPods,
  validateRequiredSelector,
  validateTemplateLabels,
} from './workload-spec.ts';

const RETENTION = ['whenDeleted', 'whenScaled'];

/** How to validate a StatefulSet spec. `skipTemplate` skips the pod template because the stored one is already invalid. */
type SpecOptions = { pod: PodOptions; isUpdate: boolean; skipTemplate?: boolean };

export function validateStatefulSetSpec(
  spec: JsonObject,
  field: Field,
  { pod, isUpdate, skipTemplate = false }: SpecOptions,
): void {
  const policy = textAt(spec, 'podManagementPolicy');
  if (policy === '') field.at('podManagementPolicy').required();
  else if (!['OrderedReady', 'Parallel'].includes(policy))
    field.at('podManagementPolicy').invalid(policy, "must be 'OrderedReady' or 'Parallel'");
  validateStatefulStrategy(objectAt(spec, 'updateStrategy') ?? {}, field.at('updateStrategy'));
  for (const name of objectAt(spec, 'persistentVolumeClaimRetentionPolicy') === undefined ? [] : RETENTION) {
    const value = textAt(spec, 'persistentVolumeClaimRetentionPolicy', name);
    const at = field.at('persistentVolumeClaimRetentionPolicy', name);
    if (!['Retain', 'Delete'].includes(value)) at.notSupported(value, ['Retain', 'Delete']);
  }
  if (!isUpdate)
    for (const [index, claim] of objectsAt(spec, 'volumeClaimTemplates').entries())
      validateClaimSpec(objectAt(claim, 'spec') ?? {}, field.at('volumeClaimTemplates', index, 'spec'));
  for (const name of ['replicas', 'minReadySeconds']) validateCount(spec, field, name);
  field.at('ordinals.start').notNegative(numberAt(spec, 'ordinals', 'start'));
  const service = textAt(spec, 'serviceName');
  if (!isUpdate && service !== '') field.at('serviceName').invalidEach(service, dns1123LabelProblems(service));
  validateRequiredSelector(spec, field, { kind: 'statefulset' });
  if (isUsableSelector(objectAt(spec, 'selector'))) validateTemplate(spec, field, skipTemplate ? undefined : pod);
  else field.at('selector').invalid(shownSelector(spec.selector), '');
  validateEndlessPods(spec, field, 'StatefulSet');
}

/**
 * Validates the pod template. As in the StatefulSet controller, adds a volume for each volume claim template and ignores the template's
 * host name and subdomain. If `options` is undefined, does not validate the template's pod spec.
 */
function validateTemplate(spec: JsonObject, field: Field, options: PodOptions | undefined): void {
  validateTemplateLabels(spec, field);
  const template = objectAt(spec, 'template') ?? {};
  const { subdomain: _, hostname: __, ...podSpec } = objectAt(template, 'spec') ?? {};
  const claims = new Set(objectsAt(spec, 'volumeClaimTemplates').map((claim) => textAt(claim, 'metadata', 'name')));
  const created = [...claims].map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  const own = objectsAt(podSpec, 'volumes').filter((volume) => !claims.has(textAt(volume, 'name')));
  const complete = { ...template, spec: { ...podSpec, volumes: [...created, ...own] } };
  const at = field.at('template');
  if (options !== undefined) validatePodTemplate(complete, at, options);
  at.add(validateLabels(at.at('labels').path, valueAt(template, 'metadata', 'labels')));
  validateAnnotations(objectAt(template, 'metadata', 'annotations'), at.at('annotations'));
  validatePodAnnotations(template, at.at('annotations'), options ?? {});
}
