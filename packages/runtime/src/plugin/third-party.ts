import type { Logger } from '@podwright/base';
import type { RuntimePluginTypes } from './runtime-plugins.ts';

/** Version of the API for third-party plugins. Must be incremented with every breaking change. */
export const PLUGIN_API_VERSION = 1;

/** The plugin types that third-party plugins may implement. */
export const THIRD_PARTY_TYPES = ['snapshotter', 'sandbox-controller', 'task-runtime'] as const;

export type ThirdPartyType = (typeof THIRD_PARTY_TYPES)[number];

/** The context passed to a third-party plugin's `init`. */
export type ThirdPartyContext<Settings> = {
  /** The plugin's ID in the configuration. Must also be the instance's `name`. */
  id: string;
  /** The plugin's `settings` from the configuration, validated and transformed by its schema. */
  settings: Settings;
  /** The plugin's own directory for persistent data; already created. */
  root: string;
  /** The plugin's own directory for data that may be lost in a reboot; already created. */
  state: string;
  logger: Logger;
  /** Sets a user-facing note about how the plugin works on this host, printed by `podwright runtime plugins`. */
  note(text: string): void;
};

/**
 * The default export of a third-party plugin's module. Errors thrown by `init` and by the instance are distinguished by their `code`
 * property, a value of `ErrorCode`; their class does not matter. `failed_precondition` from `init` means that the plugin is unavailable on
 * this host.
 */
export type ThirdPartyPlugin<Settings = unknown, Type extends ThirdPartyType = ThirdPartyType> = {
  /** The plugin API version used by the plugin, currently 1. */
  apiVersion: number;
  type: Type;
  /** Schema of the plugin's settings. Default: no settings. */
  settings?: SettingsSchema<Settings>;
  init(context: ThirdPartyContext<Settings>): RuntimePluginTypes[Type] | Promise<RuntimePluginTypes[Type]>;
  /** Stops the plugin instance's work in this process. */
  close?(instance: RuntimePluginTypes[Type]): void | Promise<void>;
};

/** A schema that implements Standard Schema 1 (https://standardschema.dev), for example from zod, valibot or ArkType. */
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

/** A settings validation error. Each step of `path` is a property key or an object containing one. */
export type SettingsIssue = {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
};
