// Asks a lake of Parquet files, as etw export writes it, all queries of a file: one of
// SQL, with semicolons between them, or a page of Markdown with blocks of SQL.
//
//     npm install @duckdb/node-api
//     etw export --format parquet -o lake TRACE...
//     node lake.mjs FOLDER-OF-LAKE FILE...
//
// The queries name the lake as 'lake/…', and the folder is the one that it is in.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const require = createRequire(process.cwd() + '/')
const { DuckDBInstance } = require(process.env.ETWGEN_DUCKDB ? process.env.ETWGEN_DUCKDB + '/node_modules/@duckdb/node-api' : '@duckdb/node-api')
const [folder, ...files] = process.argv.slice(2)
if (files.length === 0) {
  console.error('usage: node lake.mjs FOLDER-OF-LAKE FILE...')
  process.exit(2)
}
const db = await (await DuckDBInstance.create(':memory:')).connect()
await db.run(`SET file_search_path = '${folder.replaceAll("'", "''")}'`)
for (const file of files) {
  let text = readFileSync(file, 'utf8')
  if (file.endsWith('.md')) text = [...text.matchAll(/```sql\n(.*?)```/gs)].map(m => m[1]).join('\n')
  for (const sql of text.split(/;\s*\n/)) {
    if (sql.trim() === '') continue
    console.log('\n' + sql.trim() + ';')
    try {
      console.table((await db.runAndReadAll(sql)).getRowObjectsJson())
    } catch (e) {
      console.error(e.message)
      process.exitCode = 1
    }
  }
}
