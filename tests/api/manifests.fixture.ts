/** Manifests for the API suites. */

export const SHOP = `
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "nginx:1.25", ports: [{containerPort: 80}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {type: NodePort, selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
data: {colour: red}
`;

export const UNKNOWN_FIELDS = `
apiVersion: v1
kind: Pod
metadata: {name: bad, namespace: shop}
spec: {containers: [{name: c, image: busybox, imagePolicy: Never}], nodename: x}
`;

export const LIST = `
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: shop}, data: {x: "1"}}
- {apiVersion: v1, kind: Secret, metadata: {name: two, namespace: shop}, stringData: {p: q}}
- {apiVersion: v1, kind: ServiceAccount, metadata: {name: three, namespace: shop}}
`;

export const INVALID = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: Bad_Name, namespace: shop}
spec: {replicas: -1, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: c}}, spec: {containers: []}}}
`;

export const TAKEN_ADDRESS = `
apiVersion: v1
kind: Service
metadata: {name: taken, namespace: shop}
spec: {clusterIP: 10.96.0.1, ports: [{port: 80}]}
`;

export const applied = (data: string): string => `
apiVersion: v1
kind: ConfigMap
metadata: {name: applied, namespace: shop}
data: {${data}}
`;

/** Returns a ConfigMap owned by the Deployment `parent`. */
export const ownedBy = (uid: string, name: string): string => `
apiVersion: v1
kind: ConfigMap
metadata:
  name: ${name}
  namespace: shop
  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: parent, uid: "${uid}", blockOwnerDeletion: true}]
`;
