// Checks files by the types that their readers give them, dashboards (.json) by Grafana's and manifests (.yaml) by
// those of Kubernetes, and prints the faults. Arguments: the folder of get.sh schemas, and files.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'

const [dir, ...files] = process.argv.slice(2)
const { loadAll } = createRequire(dir + '/')('js-yaml')
const grafana = '../node_modules/@grafana/schema/dist/types/raw/dashboard/x/types.gen.js'
const work = mkdtempSync(dir + '/check-')
let code = ''
let n = 0
for (const file of files) {
  const text = readFileSync(file, 'utf8')
  const objects = file.endsWith('.json') ? [[JSON.parse(text), 'Dashboard', grafana]] : loadAll(text).map(o => {
    const [group, version] = o.apiVersion.includes('/') ? o.apiVersion.split('/') : ['core', o.apiVersion]
    return [o, o.kind, `kubernetes-types/${group}/${version}`]
  })
  for (const [object, type, from] of objects) {
    code += `import type { ${type} as T${++n} } from '${from}'\nexport const v${n}: T${n} = ${JSON.stringify(object, null, 1)}\n`
  }
}
writeFileSync(work + '/files.ts', code)
const r = spawnSync(process.execPath, [dir + '/node_modules/typescript/bin/tsc', '--strict', '--noEmit', '--skipLibCheck',
  '--module', 'nodenext', '--target', 'es2022', work + '/files.ts'], { cwd: work, encoding: 'utf8' })
rmSync(work, { recursive: true })
process.stdout.write(`${n} checked\n${r.stdout}${r.stderr}`)
process.exit(r.status)
