/** Validates the environment variables of containers (ValidateEnv, ValidateEnvFrom). */
import type { Field } from '../field.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems, nameIsDnsSubdomain } from '../names.ts';
import { configMapKeyProblems, envVarNameProblems } from '../texts.ts';
import { type JsonObject, objectAt, textAt } from '../values.ts';
import { ENV_FIELDS, validateFieldRef, validateResourceFieldRef } from './field-references.ts';
import { validateNoBacksteps } from './volume-paths.ts';

const SOURCES = '`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
const MORE_THAN_ONE = 'may not have more than one field specified at a time';

export function validateEnv(variables: readonly JsonObject[], field: Field): void {
  for (const [index, variable] of variables.entries()) {
    const at = field.at(index);
    const name = textAt(variable, 'name');
    if (name === '') at.at('name').required();
    else at.at('name').invalidEach(name, envVarNameProblems(name));
    const source = objectAt(variable, 'valueFrom');
    if (source !== undefined) validateSource(source, textAt(variable, 'value'), at.at('valueFrom'));
  }
}

type Rule = (ref: JsonObject, field: Field) => void;

const RULES: Readonly<Record<string, Rule>> = {
  fieldRef: (ref, field) => validateFieldRef(ref, field, ENV_FIELDS),
  resourceFieldRef: (ref, field) => validateResourceFieldRef(ref, field, false),
  configMapKeyRef: validateKeyRef,
  secretKeyRef: validateKeyRef,
  fileKeyRef: validateFileKeyRef,
};

function validateSource(source: JsonObject, value: string, field: Field): void {
  let count = 0;
  for (const [name, rule] of Object.entries(RULES)) {
    const ref = objectAt(source, name);
    if (ref === undefined) continue;
    count++;
    rule(ref, field.at(name));
  }
  if (count === 0) field.invalid('', `must specify one of: ${SOURCES}`);
  else if (value !== '') field.invalid('', 'may not be specified when `value` is not empty');
  else if (count > 1) field.invalid('', MORE_THAN_ONE);
}

function validateKeyRef(ref: JsonObject, field: Field): void {
  const name = textAt(ref, 'name');
  const key = textAt(ref, 'key');
  field.at('name').invalidEach(name, dns1123SubdomainProblems(name));
  if (key === '') field.at('key').required();
  else field.at('key').invalidEach(key, configMapKeyProblems(key));
}

function validateFileKeyRef(ref: JsonObject, field: Field): void {
  const key = textAt(ref, 'key');
  const volume = textAt(ref, 'volumeName');
  const path = textAt(ref, 'path');
  if (key === '') field.at('key').required();
  else field.at('key').invalidEach(key, envVarNameProblems(key));
  if (volume === '') field.at('volumeName').required();
  else field.at('volumeName').invalidEach(volume, dns1123LabelProblems(volume));
  if (path === '') field.at('path').required();
  else validateNoBacksteps(path, field.at('path'));
}

export function validateEnvFrom(sources: readonly JsonObject[], field: Field): void {
  for (const [index, source] of sources.entries()) {
    const at = field.at(index);
    const prefix = textAt(source, 'prefix');
    if (prefix !== '') at.at('prefix').invalidEach(prefix, envVarNameProblems(prefix));
    const refs = ['configMapRef', 'secretRef'].filter((name) => objectAt(source, name) !== undefined);
    for (const name of refs) validateSourceName(textAt(source, name, 'name'), at.at(name, 'name'));
    if (refs.length === 0) field.invalid('', 'must specify one of: `configMapRef` or `secretRef`');
    else if (refs.length > 1) field.invalid('', MORE_THAN_ONE);
  }
}

function validateSourceName(name: string, field: Field): void {
  if (name === '') field.required();
  else field.invalidEach(name, nameIsDnsSubdomain(name, true));
}
