import type { Logger } from '@podwright/base';
import type { RuntimePluginTypes } from './runtime-plugins.ts';

/** Version of the API for third-party plugins. Must be incremented with each change that breaks existing plugins. */
export const PLUGIN_API_VERSION = 1;

/** The plugin types that third-party plugins may implement. */
export const THIRD_PARTY_TYPES = ['snapshotter', 'sandbox-controller', 'task-runtime'] as const;

export type ThirdPartyType = (typeof THIRD_PARTY_TYPES)[number];

/** The context passed to a third-party plugin's `init`. */
export type ThirdPartyContext<Settings> = {
  /** The plugin's ID in the configuration. The instance's `name` must be the same. */
  id: string;
  /** The plugin's `settings` from the configuration, validated and transformed by its schema. */
  settings: Settings;
  /** The plugin's own directory for persistent data. It exists. */
  root: string;
  /** The plugin's own directory for data that a reboot may remove. It exists. */
  state: string;
  logger: Logger;
  /** Sets a note for users about how the plugin works on this host, to be printed by `podwright runtime plugins`. */
  note(text: string): void;
};

/**
 * The default export of a third-party plugin's module. Errors thrown by `init` and by the instance are distinguished by their `code`
 * property, a value of `ErrorCode`; their class does not matter. `failed_precondition` from `init` means that the plugin is unavailable on
 * this host.
 */
export type ThirdPartyPlugin<Settings = unknown, Type extends ThirdPartyType = ThirdPartyType> = {
  /** The version of the plugin API that the plugin uses, which is 1. */
  apiVersion: number;
  type: Type;
  /** Schema of the plugin's settings. Default: the plugin has no settings. */
  settings?: SettingsSchema<Settings>;
  init(context: ThirdPartyContext<Settings>): RuntimePluginTypes[Type] | Promise<RuntimePluginTypes[Type]>;
  /** Stops the instance's work in this process. */
  close?(instance: RuntimePluginTypes[Type]): void | Promise<void>;
};

/** A schema that implements Standard Schema 1 (https://standardschema.dev), such as one of zod, valibot or ArkType. */
export type SettingsSchema<Settings> = {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    validate(value: unknown): SettingsResult<Settings> | Promise<SettingsResult<Settings>>;
  };
};

export type SettingsResult<Settings> =
  | { readonly value: Settings; readonly issues?: undefined }
  | { readonly issues: readonly SettingsIssue[] };

/** A settings validation error. Each step of `path` is a property key, or an object that contains the key. */
export type SettingsIssue = {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
};
