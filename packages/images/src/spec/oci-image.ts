/** The part of an OCI image config that a runtime reads (image-spec v1, config.md). */
export type ImageConfig = {
  architecture: string;
  os: string;
  created?: string;
  config: {
    User?: string;
    Env?: string[];
    Entrypoint?: string[];
    Cmd?: string[];
    Volumes?: Record<string, object>;
    WorkingDir?: string;
    Labels?: Record<string, string>;
    StopSignal?: string;
  };
  rootfs: { type: string; diff_ids: string[] };
};
