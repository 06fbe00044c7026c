/** The data in base64 (`scripts/write-kube-schema.ts`). */
export declare const COMPRESSED: string;
