/** An object with managed fields that tests write through a field manager. */
import type { ApiObject } from '@podwright/kube-kinds';
import { decodeJson, type JsonObject, parseFieldsV1, Schema } from '@podwright/kube-schema';
import { FieldManager } from './field-manager.ts';
import type { ManagedFieldsEntry } from './owners.ts';

const schema = await Schema.load();

const KINDS = {
  ConfigMap: { group: '', version: 'v1', kind: 'ConfigMap' },
  Deployment: { group: 'apps', version: 'v1', kind: 'Deployment' },
} as const;

/** An object that tests create, update and apply through a field manager. */
export class TrackedObject {
  object: ApiObject | undefined;
  /** Current time of the test, as Unix time in seconds. */
  now = 0;
  readonly #managers: (subresource: string) => FieldManager;
  readonly #decode: (object: JsonObject) => ApiObject;
  readonly #head: JsonObject;

  constructor(kindName: keyof typeof KINDS) {
    const kind = KINDS[kindName];
    const type = schema.kind(kind)!;
    const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
    this.#decode = (object) => decodeJson(object, { schema, type }).object as ApiObject;
    this.#head = { apiVersion, kind: kind.kind };
    const emptyObject = this.#decode({});
    this.#managers = (subresource) => {
      const ignored = parseFieldsV1(subresource === '' ? { 'f:status': {} } : { 'f:spec': {} });
      return new FieldManager({ schema, type, apiVersion, kind, subresource, emptyObject, ignored });
    };
  }

  /** Creates or replaces the object, like a POST or PUT. */
  write(manager: string, object: JsonObject, subresource = ''): void {
    const decoded = this.#decode(this.#complete(object));
    this.object = this.#managers(subresource).update(this.object, decoded, this.#writing(manager));
  }

  /** Applies a configuration to the object, like a server-side apply. Throws `ApiError`. */
  apply(manager: string, configuration: JsonObject, { force = false, subresource = '' } = {}): void {
    const options = { ...this.#writing(manager), force };
    const applied = this.#managers(subresource).apply(this.object, this.#complete(configuration), options);
    this.object = this.#decode({ ...applied, metadata: { ...applied.metadata, uid: 'u' } });
  }

  get entries(): readonly ManagedFieldsEntry[] {
    return (this.object!.metadata.managedFields ?? []) as ManagedFieldsEntry[];
  }

  /** Returns the object's managed fields entries in the form `MANAGER OPERATION/SUBRESOURCE@SECOND`. */
  get managers(): string[] {
    return this.entries.map(({ manager, operation, subresource, time }) => {
      const second = time === undefined ? '' : `@${Date.parse(time) / 1000}`;
      return `${manager} ${operation}${subresource === undefined ? '' : `/${subresource}`}${second}`;
    });
  }

  fieldsOf(manager: string): JsonObject | undefined {
    return this.entries.find((entry) => entry.manager === manager)?.fieldsV1;
  }

  #writing(manager: string) {
    return { manager, nowMs: this.now * 1000 };
  }

  #complete({ metadata, ...object }: JsonObject): JsonObject {
    return { ...this.#head, metadata: { name: 'a', namespace: 'default', ...(metadata as object) }, ...object };
  }
}
