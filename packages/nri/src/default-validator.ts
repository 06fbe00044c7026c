import { errorMessage } from '@podwright/base';
import { parse } from 'yaml';
import { SecurityProfile_ProfileType as ProfileType } from './gen/nri/v1alpha1/container_pb.js';
import { Field } from './gen/nri/v1alpha1/owners_pb.js';
import type { ValidateContainerAdjustmentRequest } from './gen/nri/v1alpha1/services_pb.js';

/** Pod annotation: a YAML list of plugins, all of which must be connected for the pod's containers to be created. */
export const REQUIRED_PLUGINS_ANNOTATION = 'required-plugins.noderesource.dev';

/** Settings of the built-in validator, with the same meanings as in containerd's `default_validator`. By default, nothing is rejected. */
export type DefaultValidatorSettings = {
  rejectOciHooks?: boolean;
  rejectRuntimeDefaultSeccomp?: boolean;
  rejectUnconfinedSeccomp?: boolean;
  /** Rejects changes to the seccomp policy of containers with a localhost profile. */
  rejectCustomSeccomp?: boolean;
  rejectNamespaces?: boolean;
  rejectSysctls?: boolean;
  /** Names of plugins that must be connected for containers to be created. */
  requiredPlugins?: string[];
  /** Key of a boolean pod annotation. If its value is `true`, containers are created even if required plugins are missing. */
  tolerateMissingAnnotation?: string;
};

type Request = ValidateContainerAdjustmentRequest;

/** Returns why the adjustments are rejected, or `undefined` if they are accepted. Pure. */
export function validateByDefault(settings: DefaultValidatorSettings, request: Request): string | undefined {
  return (
    hooksProblem(settings, request) ??
    seccompProblem(settings, request) ??
    namespaceProblem(settings, request) ??
    pluginProblem(settings, request) ??
    sysctlProblem(settings, request)
  );
}

function simpleOwner({ owners, container }: Request, field: Field): string | undefined {
  return owners?.owners[container?.id ?? '']?.simple[field];
}

function entryOwners({ owners, container }: Request, field: Field): [string, string][] {
  return Object.entries(owners?.owners[container?.id ?? '']?.compound[field]?.owners ?? {});
}

function hooksProblem({ rejectOciHooks }: DefaultValidatorSettings, request: Request): string | undefined {
  const owner = simpleOwner(request, Field.OciHooks);
  return rejectOciHooks && owner !== undefined ? `plugin ${owner} adds OCI hooks` : undefined;
}

function seccompProblem(settings: DefaultValidatorSettings, request: Request): string | undefined {
  const owner = simpleOwner(request, Field.SeccompPolicy);
  if (owner === undefined) return undefined;
  const type = request.container?.linux?.seccompProfile?.profileType ?? ProfileType.UNCONFINED;
  const [rejects, kind] = {
    [ProfileType.RUNTIME_DEFAULT]: [settings.rejectRuntimeDefaultSeccomp, 'runtime default'] as const,
    [ProfileType.UNCONFINED]: [settings.rejectUnconfinedSeccomp, 'unconfined'] as const,
    [ProfileType.LOCALHOST]: [settings.rejectCustomSeccomp, 'custom'] as const,
  }[type];
  return rejects ? `plugin ${owner} changes the ${kind} seccomp policy` : undefined;
}

function namespaceProblem({ rejectNamespaces }: DefaultValidatorSettings, request: Request): string | undefined {
  const changes = entryOwners(request, Field.Namespace).map(([type, owner]) => `${type} (plugin ${owner})`);
  return rejectNamespaces && changes.length > 0 ? `namespaces are changed: ${changes.join(', ')}` : undefined;
}

function sysctlProblem({ rejectSysctls }: DefaultValidatorSettings, request: Request): string | undefined {
  const changes = entryOwners(request, Field.Sysctl).map(([name, owner]) => `${name} (plugin ${owner})`);
  return rejectSysctls && changes.length > 0 ? `sysctls are changed: ${changes.join(', ')}` : undefined;
}

function pluginProblem(settings: DefaultValidatorSettings, request: Request): string | undefined {
  const { requiredPlugins = [], tolerateMissingAnnotation = '' } = settings;
  const tolerates = tolerateMissingAnnotation === '' ? undefined : annotation(request, tolerateMissingAnnotation);
  if (tolerates !== undefined && !/^(1|t|true|0|f|false)$/i.test(tolerates))
    return `annotation ${tolerateMissingAnnotation}: ${JSON.stringify(tolerates)} is not a boolean`;
  if (tolerates !== undefined && /^[1t]/i.test(tolerates)) return undefined;
  const listed = annotation(request, REQUIRED_PLUGINS_ANNOTATION);
  const more = listed === undefined ? [] : namesIn(listed);
  if (typeof more === 'string') return `annotation ${REQUIRED_PLUGINS_ANNOTATION}: ${more}`;
  const present = new Set(request.plugins.map(({ name }) => name));
  const missing = [...requiredPlugins, ...more].filter((name) => !present.has(name));
  return missing.length === 0 ? undefined : `required plugins are missing: ${missing.join(', ')}`;
}

/** Returns the names in a YAML list, or an error message if the text is not such a list. */
function namesIn(text: string): string[] | string {
  try {
    const list: unknown = parse(text) ?? [];
    if (Array.isArray(list) && list.every((name) => typeof name === 'string')) return list;
    return 'not a list of names';
  } catch (error) {
    return errorMessage(error);
  }
}

/** Returns a pod annotation's value for the container. A container-specific key overrides the pod's key. */
function annotation({ pod, container }: Request, key: string): string | undefined {
  const keys = [`${key}/container.${container?.name ?? ''}`, `${key}/pod`, key];
  return keys.map((one) => pod?.annotations[one]).find((value) => value !== undefined);
}
