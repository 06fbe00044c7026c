import type { KubeObject } from '@podwright/kube-api';
import { AGE, type Column, integer, type KindTables, kindTable, NAME, text, UNSET } from './column.ts';
import { goSelectorText, type LabelSelector } from './selector-text.ts';

type Webhooks = KubeObject & { webhooks?: unknown[] };

const WEBHOOKS: Column<Webhooks>[] = [
  NAME,
  integer('Webhooks', 'Webhooks of the configuration', ({ webhooks }) => webhooks?.length ?? 0),
  AGE,
];

type Policy = KubeObject & {
  spec?: { validations?: unknown[]; mutations?: unknown[]; paramKind?: { apiVersion: string; kind: string } };
};

const PARAM_KIND: Column<Policy> = text('ParamKind', "Kind of the policy's parameters", ({ spec }) =>
  spec?.paramKind ? `${spec.paramKind.apiVersion}/${spec.paramKind.kind}` : UNSET,
);

const VALIDATING_POLICY: Column<Policy>[] = [
  NAME,
  integer('Validations', 'Rules of the policy', ({ spec }) => spec?.validations?.length ?? 0),
  PARAM_KIND,
  AGE,
];

const MUTATING_POLICY: Column<Policy>[] = [
  NAME,
  integer('Mutations', 'Changes that the policy makes', ({ spec }) => spec?.mutations?.length ?? 0),
  PARAM_KIND,
  AGE,
];

type PolicyBinding = KubeObject & {
  spec?: { policyName?: string; paramRef?: { namespace?: string; name?: string; selector?: LabelSelector } };
};

const POLICY_BINDING: Column<PolicyBinding>[] = [
  NAME,
  text('PolicyName', 'Policy that is bound', ({ spec }) => spec?.policyName ?? ''),
  text('ParamRef', "Object with the policy's parameters", ({ spec }) => {
    const { namespace, name, selector } = spec?.paramRef ?? {};
    if (name) return `${namespace || '*'}/${name}`;
    return selector ? goSelectorText(selector) : UNSET;
  }),
  AGE,
];

const GROUP = 'admissionregistration.k8s.io';

export const ADMISSION: KindTables = {
  [`MutatingWebhookConfiguration.${GROUP}`]: kindTable(WEBHOOKS),
  [`ValidatingWebhookConfiguration.${GROUP}`]: kindTable(WEBHOOKS),
  [`ValidatingAdmissionPolicy.${GROUP}`]: kindTable(VALIDATING_POLICY),
  [`ValidatingAdmissionPolicyBinding.${GROUP}`]: kindTable(POLICY_BINDING),
  [`MutatingAdmissionPolicy.${GROUP}`]: kindTable(MUTATING_POLICY),
  [`MutatingAdmissionPolicyBinding.${GROUP}`]: kindTable(POLICY_BINDING),
};
