--[[
  Opens a ticket in Jira.

  Configuration: [tools.script.create_jira_ticket] with url, email and api_token; the host of url must be granted.
]]

tool = {
    name = "create_jira_ticket",
    version = "1.0.0",
    description = "Opens a ticket in Jira. Use it when somebody asks for one, and repeat its key to them.",
    parameters = {
        { name = "title", type = "string", required = true, minLength = 1, description = "What is to be done, in one line" },
        { name = "body", type = "string", required = true, description = "All that whoever does it must know" },
        { name = "project", type = "string", default = "ENG", description = "Key of the project" },
        {
            name = "priority",
            type = "string",
            default = "Medium",
            enum = { "Lowest", "Low", "Medium", "High", "Highest" },
            description = "How urgent it is",
        },
    },
}

-- Jira takes descriptions as documents.
local function document(text)
    local paragraph = { type = "paragraph", content = { { type = "text", text = text } } }
    return { type = "doc", version = 1, content = { paragraph } }
end

function tool.execute(params, context)
    local config = context.config
    local response = http.post(config.url .. "/rest/api/3/issue", json.encode({
        fields = {
            project = { key = params.project },
            issuetype = { name = "Task" },
            summary = params.title,
            description = document(params.body),
            priority = { name = params.priority },
        },
    }), {
        headers = {
            ["Authorization"] = "Basic " .. base64.encode(config.email .. ":" .. config.api_token),
            ["Content-Type"] = "application/json",
        },
        timeout = 10,
    })
    if not response.ok then
        log.error("Jira answered " .. response.status, response.body)
        error({ code = "jira", message = "Jira answered " .. response.status, status = response.status })
    end

    local key = response.json.key
    log.info("created " .. key)
    return {
        key = key,
        url = config.url .. "/browse/" .. key,
        message = "created " .. key .. ": " .. params.title,
    }
end
