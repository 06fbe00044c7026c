import type { Logger } from '@podwright/base';
import type { RuntimePluginTypes } from './runtime-plugins.ts';

/** Version of the contract with plugins of others. Counted up when a plugin of before would not work any more. */
export const PLUGIN_API_VERSION = 1;

/** What plugins of others may give. */
export const THIRD_PARTY_TYPES = ['snapshotter', 'sandbox-controller', 'task-runtime'] as const;

export type ThirdPartyType = (typeof THIRD_PARTY_TYPES)[number];

/** What is handed to a plugin when it starts. */
export type ThirdPartyContext<Settings> = {
  /** What the configuration calls it. The instance's `name` must be the same. */
  id: string;
  /** The table `settings` of the configuration, as the plugin's schema gives it. */
  settings: Settings;
  /** A directory of the plugin's own for lasting data; it is there. */
  root: string;
  /** A directory of the plugin's own for what a reboot may lose; it is there. */
  state: string;
  logger: Logger;
  /** Notes, for people, how the plugin works on this host. */
  note(text: string): void;
};

/**
 * The default export of a plugin's module. Errors that `init` or the instance throws are told apart by a property `code` with
 * one of the values of `ErrorCode`, whatever their class; `failed_precondition` from `init` means: not on this host.
 */
export type ThirdPartyPlugin<Settings = unknown, Type extends ThirdPartyType = ThirdPartyType> = {
  /** The version of the contract that it was written for: 1. */
  apiVersion: number;
  type: Type;
  /** What its settings may be; without a schema it takes none. */
  settings?: SettingsSchema<Settings>;
  init(context: ThirdPartyContext<Settings>): RuntimePluginTypes[Type] | Promise<RuntimePluginTypes[Type]>;
  /** Ends what the instance does in this process. */
  close?(instance: RuntimePluginTypes[Type]): void | Promise<void>;
};

/** Any schema that follows Standard Schema 1 (https://standardschema.dev), as those of zod, valibot and ArkType do. */
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

/** What is wrong, and with which key: its path, where a step may be the key itself or an object that has it. */
export type SettingsIssue = {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
};
