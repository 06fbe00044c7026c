/**
 * Compares the bootstrap policy with that of Kubernetes. Runs only if PODWRIGHT_KUBERNETES_DATA is set to a directory containing
 * `rbac/*.yaml`, the files from Kubernetes' `plugin/pkg/auth/authorizer/rbac/bootstrappolicy/testdata`.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readYamlDocuments } from '@podwright/kube-api';
import type { Role, RoleBinding } from '../rbac-objects.ts';
import { bootstrapPolicy } from './bootstrap-policy.ts';

const directory = join(process.env.PODWRIGHT_KUBERNETES_DATA ?? '', 'rbac');

type RbacObject = Role | RoleBinding;

const itemsOf = (file: string): RbacObject[] => {
  const { documents, problems } = readYamlDocuments(readFileSync(join(directory, `${file}.yaml`), 'utf8'), 1);
  assert.deepEqual(problems, []);
  return (documents[0]!.value as { items: RbacObject[] }).items;
};

const sorted = (objects: readonly RbacObject[]) =>
  objects
    .map((object) => JSON.parse(JSON.stringify(object)) as RbacObject)
    .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));

const nameOf = ({ metadata }: RbacObject) => `${metadata.namespace}/${metadata.name}`;

/** Returns the object without null rules: Kubernetes serializes the rules of aggregated roles as null. */
const withoutNull = (object: RbacObject): RbacObject =>
  'rules' in object && object.rules === null ? { ...object, rules: [] } : object;

const FILES: Record<keyof ReturnType<typeof bootstrapPolicy>, string[]> = {
  clusterRoles: ['cluster-roles', 'controller-roles'],
  clusterRoleBindings: ['cluster-role-bindings', 'controller-role-bindings'],
  roles: ['namespace-roles'],
  roleBindings: ['namespace-role-bindings'],
};

if (process.env.PODWRIGHT_KUBERNETES_DATA !== undefined && existsSync(directory))
  for (const [name, files] of Object.entries(FILES))
    test(`the ${name} are those of Kubernetes`, () => {
      const upstream = files.flatMap(itemsOf).map(withoutNull);
      const own = bootstrapPolicy()[name as keyof typeof FILES];
      assert.deepEqual(sorted(own), sorted(upstream));
    });
