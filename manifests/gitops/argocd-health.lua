-- Health of a DBBenchmark for Argo CD; argocd-cm.yaml beside this file has the same text.
--
-- Healthy: it has succeeded, all gates passed. Degraded: it failed, missed a gate, or cannot start.
-- Suspended: spec.suspend, and nothing runs any more. Progressing: all else, waiting for a node too.
local found = {}
if obj.status ~= nil then
  for _, condition in ipairs(obj.status.conditions or {}) do
    found[condition.type] = condition
  end
end

local function health(status, condition)
  local message = ""
  if condition ~= nil then
    message = condition.reason
    if condition.message ~= nil and condition.message ~= "" then
      message = message .. ": " .. condition.message
    end
  end
  return { status = status, message = message }
end

local function is(name, status)
  return found[name] ~= nil and found[name].status == status
end

if obj.status == nil or obj.status.observedGeneration ~= obj.metadata.generation then
  return { status = "Progressing", message = "the operator has not seen this version yet" }
end
if is("Stalled", "True") then
  return health("Degraded", found.Stalled)
end
if is("Succeeded", "True") then
  return health("Healthy", found.Succeeded)
end
if is("Reconciling", "False") and found.Reconciling.reason == "Suspended" then
  return health("Suspended", found.Reconciling)
end
return health("Progressing", found.Reconciling)
