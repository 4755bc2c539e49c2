// Answers queries with ClickHouse, in the way of duckdb.mjs. It knows a cluster "one" of one server,
// of which nothing but the name is there.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { createInterface } from 'node:readline'

const { Session } = createRequire(process.argv[2] + '/')('chdb')
const dir = mkdtempSync(tmpdir() + '/clickhouse-')
writeFileSync(dir + '/config.xml', `<clickhouse><remote_servers><one><shard><replica>
  <host>127.0.0.1</host><port>1</port></replica></shard></one></remote_servers></clickhouse>`)
const session = new Session(dir + '/data', {
  connectionArgs: ['--config-file=' + dir + '/config.xml', '--output_format_json_quote_64bit_integers=1', '--max_threads=2'],
})
for await (const line of createInterface({ input: process.stdin })) {
  let answer
  try {
    const text = session.query(JSON.parse(line).sql, 'JSONCompact')
    const r = text.trim() === '' ? { meta: [], data: [] } : JSON.parse(text)
    answer = { columns: r.meta.map(c => c.name), rows: r.data }
  } catch (e) {
    answer = { error: e.message }
  }
  process.stdout.write(JSON.stringify(answer) + '\n')
}
session.close?.()
rmSync(dir, { recursive: true, force: true })
